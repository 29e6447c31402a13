// Who reads JSON into a tree asks first how deep it nests (engine/support/read_json.h): the trees' own functions recurse.
#include <regex>

#include <gmock/gmock.h>

#include "tests/arch/source_tree.h"

namespace kerf::arch {
namespace {

/// Places that parse a tree themselves. Benchmarks read what they made.
std::vector<std::string> treesIn(const SourceFile& file) {
  static const std::regex parses(R"re((\b|_)[Jj]son::parse\()re");
  std::vector<std::string> found;
  if (file.path == "engine/support/read_json.h" || file.path.starts_with("app/bench/")) return found;
  for (const std::string& line : linesOf(file.text))
    if (std::regex_search(line, parses)) found.push_back(file.path + ": " + line);
  return found;
}

TEST(Json, IsReadInOnePlace) {
  std::vector<std::string> found;
  for (const SourceFile& file : sourceFiles()) std::ranges::copy(treesIn(file), std::back_inserter(found));
  EXPECT_THAT(found, ::testing::IsEmpty());
}

TEST(Json, AnotherReaderIsSeen) {
  EXPECT_EQ(treesIn({"app/cli/a.cpp", "auto a = Json::parse(text, nullptr, false);\n"}).size(), 1u);
  EXPECT_EQ(treesIn({"app/cli/a.cpp", "auto a = nlohmann::ordered_json::parse(text);\n"}).size(), 1u);
  EXPECT_THAT(treesIn({"app/cli/a.cpp", "auto a = readJson<Json>(text);\n"}), ::testing::IsEmpty());
}

}  // namespace
}  // namespace kerf::arch
