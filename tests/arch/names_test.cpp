// One namespace per folder, and one type per name: two types of one name in one program are undefined behaviour that
// only some builds show.
#include <regex>

#include <gmock/gmock.h>

#include "tests/arch/source_tree.h"

namespace kerf::arch {
namespace {

/// What a file of `folder` must open: "kerf::inline ir" for engine/ir. Nested names may follow ("…::pt2").
std::string namespaceOf(const std::string& folder) {
  const std::string top = folder.substr(0, folder.find('/')), name = folder.substr(folder.find('/') + 1);
  if (top == "engine") return "kerf::inline " + name;
  if (top == "minifier" || top == "storage") return "kerf::inline " + top + "::inline " + name;
  if (top == "ui") return "kerf::ui::inline " + name;
  return name == "studio" ? "kerf::ui" : "kerf::" + name;
}

struct TypeName {
  std::string name, file;
};

/// Types defined in a named namespace at the left margin; those of unnamed namespaces belong to their file alone.
std::vector<TypeName> typesOf(const SourceFile& file) {
  static const std::regex definition(R"(^(?:struct|class|enum|enum class) (\w+)(?: final)?(?: :[^;]*)? ?\{)");
  std::vector<TypeName> types;
  bool unnamed = false;
  for (const std::string& line : linesOf(file.text)) {
    if (line == "namespace {") unnamed = true;
    if (line == "}  // namespace") unnamed = false;
    std::smatch match;
    if (!unnamed && std::regex_search(line, match, definition)) types.push_back({match[1], file.path});
  }
  return types;
}

std::vector<std::string> typesOfOneName(const std::vector<SourceFile>& files) {
  std::map<std::string, std::string> first;
  std::vector<std::string> twice;
  for (const auto& file : files)
    for (const auto& type : typesOf(file))
      if (const auto [known, added] = first.emplace(type.name, type.file); !added)
        twice.push_back(type.name + " in " + known->second + " and " + type.file);
  return twice;
}

TEST(Names, EveryFileOpensTheNamespaceOfItsFolder) {
  static const std::regex opening(R"(^namespace (kerf[^{]*) \{)");
  for (const auto& file : sourceFiles()) {
    const std::string expected = namespaceOf(folderOf(file.path));
    bool own = false;
    for (const std::string& line : linesOf(file.text)) {
      std::smatch match;
      if (std::regex_search(line, match, opening)) own = own || match[1].str().starts_with(expected);
    }
    EXPECT_TRUE(own || file.path.ends_with("main.cpp")) << file.path << " does not open namespace " << expected;
  }
}

TEST(Names, NoNameIsTwoTypes) {
  ASSERT_GT(sourceFiles().size(), 500u);
  EXPECT_THAT(typesOfOneName(sourceFiles()), ::testing::IsEmpty());
}

TEST(Names, ASecondTypeOfOneNameIsSeen) {
  const SourceFile a{"engine/lower/a.h", "namespace kerf {\nstruct Group {\n};\n}\n"};
  const SourceFile b{"engine/capture/b.h", "namespace kerf {\nclass Group final : public X {\n};\n}\n"};
  const SourceFile c{"engine/capture/c.cpp", "namespace {\nstruct Group {\n};\n}  // namespace\n"};
  EXPECT_THAT(typesOfOneName({a, b, c}), ::testing::ElementsAre("Group in engine/lower/a.h and engine/capture/b.h"));
}

}  // namespace
}  // namespace kerf::arch
