// JSON from strangers: what nests without end is refused before a tree is made of it.
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/support/read_json.h"

namespace kerf {
namespace {

using nlohmann::json;

std::string lists(int depth) { return std::string(std::size_t(depth), '[') + std::string(std::size_t(depth), ']'); }

TEST(ReadJson, NestsAsDeepAsTheLimit) {
  EXPECT_EQ(readJson<json>(lists(deepestJson)).size(), 1u);
  EXPECT_TRUE(readJson<json>(lists(deepestJson + 1)).is_discarded());
  EXPECT_TRUE(readJson<json>("[[1]]", 1).is_discarded());
  EXPECT_EQ(readJson<json>("[[1], [2]]", 2).size(), 2u);
}

TEST(ReadJson, AMillionBracketsAreNoTree) {
  for (const std::string& text :
       {lists(1'000'000), std::string(1'000'000, '['), R"({"a": )" + lists(1'000'000) + "}"}) {
    EXPECT_TRUE(readJson<json>(text).is_discarded());
    EXPECT_EQ(whyNoJson(text), "nests deeper than 200 levels");
    std::istringstream in(text);
    EXPECT_TRUE(readJson<json>(in).is_discarded());
  }
}

TEST(ReadJson, BracketsOfTextsDoNotNest) {
  const std::string brackets(1000, '[');
  EXPECT_EQ(readJson<json>("[\"" + brackets + "\"]")[0].get<std::string>(), brackets);
  EXPECT_EQ(readJson<json>("[\"\\\"" + brackets + "\"]")[0].get<std::string>(), "\"" + brackets);
  EXPECT_TRUE(readJson<json>("[\"\\\\\"" + brackets + "]").is_discarded());
}

TEST(ReadJson, MalformedTextIsDiscarded) {
  for (const char* text : {"", "{", "nul", "[1,]", "]]]]"}) {
    EXPECT_TRUE(readJson<json>(text).is_discarded()) << text;
    EXPECT_EQ(whyNoJson(text), "is no JSON") << text;
  }
}

}  // namespace
}  // namespace kerf
