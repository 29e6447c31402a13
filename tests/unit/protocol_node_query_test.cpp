// The query language of searches: what fits, and what is said of what cannot be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/workbench/protocol/node_query.h"
#include "app/workbench/protocol/query_text.h"
#include "engine/support/near_names.h"

namespace kerf::workbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NodeDoc call(const std::string& name, const std::string& op, const std::string& dtype, const std::string& shape) {
  NodeDoc node;
  node.name = name;
  node.op = op;
  node.opcode = "call_function";
  node.target = "torch.ops.aten." + op + ".default";
  node.schema = "aten::" + op;
  node.kind = NodeKind::Pointwise;
  node.dtype = dtype;
  node.shape = shape;
  node.value = dtype + shape;
  return node;
}

/// relu, relu_1 and mm of a small model, a product in bf16, and a pair of results.
std::vector<NodeDoc> nodes() {
  std::vector<NodeDoc> made{call("relu", "relu", "f32", "[16, 512]"),
                            call("relu_1", "relu", "bf16", "[4, 16, 512]"),
                            call("mm", "mm", "bf16", "[16, 32]"),
                            call("norm", "var_mean.correction", "f32; f32", "[16, 1]; [16, 1]"),
                            call("leaky", "leaky_relu", "f32", "[s0, 512]"),
                            call("loss", "sum", "f32", "[]")};
  made[0].users = {1, 2};
  made[1].users = {2};
  made[0].modulePath = "L['self'].layers.3.act";
  made[1].modulePath = "L['self'].layers.13.act";
  made[2].kind = NodeKind::Matmul;
  made[2].stackTrace = "File \"my model.py\", line 3";
  made[2].inputs = {0, 1};
  return made;
}

std::vector<std::string> found(const std::string& text, const NodeFacts& factsOfFirst = {}) {
  const auto query = NodeQuery::parse(text);
  if (!query) return {"error: " + query.error().message};
  std::vector<std::string> names;
  const auto all = nodes();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (query->matches(all[i], i == 0 ? factsOfFirst : NodeFacts())) names.push_back(all[i].name);
  return names;
}

std::string problem(const std::string& text) {
  const auto query = NodeQuery::parse(text);
  return query ? "none" : query.error().message;
}

TEST(NodeQuery, WordsFitNamesTargetsAndValues) {
  EXPECT_THAT(found("relu"), ElementsAre("relu", "relu_1", "leaky"));
  EXPECT_THAT(found("ReLU 512 bf16"), ElementsAre("relu_1"));
  EXPECT_THAT(found("\"[16, 512]\""), ElementsAre("relu"));
  EXPECT_THAT(found("nothing_like_it"), IsEmpty());
  EXPECT_TRUE(NodeQuery::parse("  ")->empty());
}

TEST(NodeQuery, AnOpIsAWholeWordOrAPattern) {
  EXPECT_THAT(found("op:relu"), ElementsAre("relu", "relu_1"));
  EXPECT_THAT(found("op:*relu"), ElementsAre("relu", "relu_1", "leaky"));
  EXPECT_THAT(found("op:var_mean"), ElementsAre("norm"));
  EXPECT_THAT(found("op:mm,sum"), ElementsAre("mm", "loss"));
  EXPECT_THAT(found("op:m?"), ElementsAre("mm"));
}

TEST(NodeQuery, ShapesAreWrittenWithCrosses) {
  EXPECT_THAT(found("shape:16x512"), ElementsAre("relu"));
  EXPECT_THAT(found("shape:*x512"), ElementsAre("relu", "relu_1", "leaky"));
  EXPECT_THAT(found("shape:scalar"), ElementsAre("loss"));
  EXPECT_THAT(found("shape:16x1"), ElementsAre("norm"));
  EXPECT_THAT(found("rank>2"), ElementsAre("relu_1"));
  EXPECT_THAT(found("rank=0"), ElementsAre("loss"));
}

TEST(NodeQuery, DtypesHaveTwoNames) {
  EXPECT_THAT(found("dtype:bf16"), ElementsAre("relu_1", "mm"));
  EXPECT_THAT(found("dtype:bfloat16"), ElementsAre("relu_1", "mm"));
  EXPECT_THAT(found("not:dtype:f32,bf16"), IsEmpty());
  EXPECT_EQ(longDtype("f8e4m3fn"), "float8_e4m3fn");
  EXPECT_EQ(longDtype("b8"), "bool");
  EXPECT_EQ(longDtype("u16"), "uint16");
}

TEST(NodeQuery, FiguresAreCompared) {
  EXPECT_THAT(found("users>1"), ElementsAre("relu"));
  EXPECT_THAT(found("users<=1 users!=0"), ElementsAre("relu_1"));
  EXPECT_THAT(found("inputs=2"), ElementsAre("mm"));
  EXPECT_THAT(found("bytes>=64k"), ElementsAre("relu_1"));
  EXPECT_THAT(found("bytes=128"), ElementsAre("norm")) << "of both results";
  EXPECT_THAT(found("elements>32k"), ElementsAre("relu_1"));
  EXPECT_THAT(found("op:leaky_relu bytes>0"), IsEmpty()) << "a symbolic size has no bytes";
}

TEST(NodeQuery, ModulesAndStacksAreLookedInto) {
  EXPECT_THAT(found("module:layers.3"), ElementsAre("relu"));
  EXPECT_THAT(found("module:layers"), ElementsAre("relu", "relu_1"));
  EXPECT_THAT(found("stack:\"my model.py\""), ElementsAre("mm"));
  EXPECT_THAT(found("kind:matmul"), ElementsAre("mm"));
}

TEST(NodeQuery, TermsAreTurnedRound) {
  EXPECT_THAT(found("relu not:op:leaky_relu"), ElementsAre("relu", "relu_1"));
  EXPECT_THAT(found("relu -bf16"), ElementsAre("relu", "leaky"));
  EXPECT_THAT(found("op:relu not:not:users>1"), ElementsAre("relu"));
}

TEST(NodeQuery, StatesBeyondTheGraphAreFacts) {
  EXPECT_THAT(found("op:relu diverged", {.diverged = true}), ElementsAre("relu"));
  EXPECT_THAT(found("is:noted", {.noted = true}), ElementsAre("relu"));
  EXPECT_THAT(found("is:symbolic"), ElementsAre("leaky"));
  EXPECT_THAT(NodeQuery::parse("diverged is:unused is:added")->factsAskedFor(), ElementsAre("added", "diverged"));
  EXPECT_THAT(found("\"diverged\"", {.diverged = true}), IsEmpty()) << "between quotation marks it is a word";
}

TEST(NodeQuery, SaysWhatCannotBeRead) {
  EXPECT_THAT(problem("opp:relu"), HasSubstr("there is no field opp; did you mean op?"));
  EXPECT_THAT(problem("usres>1"), HasSubstr("there is no number usres; did you mean users?"));
  EXPECT_EQ(problem("users:1"), "users is a number: write users>1 or users=1");
  EXPECT_EQ(problem("op>1"), "op is a text: write op:1");
  EXPECT_EQ(problem("users>many"), "users> needs a number behind it, such as users>1");
  EXPECT_EQ(problem("op:"), "nothing stands behind op:");
  EXPECT_EQ(problem("op:relu not:"), "nothing stands behind not:");
  EXPECT_EQ(problem("\"fc"), "a quotation mark is not closed: \"fc");
  EXPECT_THAT(problem("is:divergd"), HasSubstr("no node is:divergd; did you mean diverged?"));
}

TEST(NodeQuery, EveryWordThatHelpNamesCanBeRead) {
  for (const auto& [word, what] : queryWords()) {
    EXPECT_FALSE(what.empty());
    const auto text = std::string(word) + (word.ends_with(':') ? "x" : word.ends_with('>') ? "1" : "");
    EXPECT_EQ(problem(text), "none") << text;
  }
}

TEST(QueryText, StarsTakeWhatIsNeeded) {
  EXPECT_TRUE(globMatches("a*b*c", "axxbyybc"));
  EXPECT_FALSE(globMatches("a*b", "axbx"));
  EXPECT_TRUE(globMatches("*", ""));
  EXPECT_FALSE(globMatches("?", ""));
  EXPECT_EQ(editDistance("usres", "users"), 2u);
  EXPECT_EQ(parseFigure("1.5KiB", 1024), 1536);
  EXPECT_EQ(parseFigure("2m", 1000), 2e6);
  EXPECT_EQ(parseFigure("2x", 1000), std::nullopt);
  EXPECT_EQ(product("[3, 0, 5]"), 0);
  EXPECT_EQ(product("[s0, 2]"), std::nullopt);
}

}  // namespace
}  // namespace kerf::workbench
