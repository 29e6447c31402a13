// Nested graphs are written out where they are called: a small text may mean millions of nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/autograd/aot_graph.h"
#include "engine/ir/parser.h"

namespace kerf {
namespace {

/// `calls` calls of a nested graph of `nodes` sines.
GraphModule calling(int calls, int nodes) {
  std::string text =
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]\"):\n        body = self.body\n";
  std::string last = "x";
  for (int i = 0; i < calls; ++i) {
    text += fmt::format(
        "        w{0} = torch.ops.higher_order.invoke_subgraph(body, 'body', {1})\n"
        "        g{0}: \"f32[4]\" = w{0}[0]\n",
        i, last);
    last = fmt::format("g{}", i);
  }
  text += fmt::format(
      "        return ({},)\n\n    class body(torch.nn.Module):\n        def forward(self, x: \"f32[4]\"):\n", last);
  for (int i = 0; i < nodes; ++i)
    text += fmt::format("            y{}: \"f32[4]\" = torch.ops.aten.sin.default({})\n", i,
                        i == 0 ? "x" : fmt::format("y{}", i - 1));
  text += fmt::format("            return (y{},)\n", nodes - 1);
  auto module = parseReadable(text);
  EXPECT_TRUE(module) << module.error().text();
  return std::move(*module);
}

TEST(WrittenSize, NestedGraphsBeyondTheLimitAreRefusedAtOnce) {
  const GraphModule module = calling(600, 500);
  for (const AotStage stage : {AotStage::Functional, AotStage::Joint}) {
    const auto traced = aotTrace(module, plainInputs(module), {.stage = stage});
    ASSERT_FALSE(traced);
    EXPECT_EQ(traced.error().code, ErrorCode::TooLarge);
    EXPECT_THAT(traced.error().message, ::testing::HasSubstr("more than 262144 nodes"));
  }
}

/// Branches of cond are traced at each call.
TEST(WrittenSize, BranchesOfCondCount) {
  std::string text =
      "class GraphModule(torch.nn.Module):\n    def forward(self, p: \"b8[]\", x: \"f32[4]\"):\n        a = self.a\n   "
      "     "
      "b = self.b\n";
  for (int i = 0; i < 600; ++i)
    text += fmt::format(
        "        w{0} = torch.ops.higher_order.cond(p, a, b, (x,))\n        g{0}: \"f32[4]\" = w{0}[0]\n", i);
  text += "        return (g599,)\n";
  for (const char* name : {"a", "b"}) {
    text += fmt::format("\n    class {}(torch.nn.Module):\n        def forward(self, x: \"f32[4]\"):\n", name);
    for (int i = 0; i < 250; ++i)
      text += fmt::format("            y{}: \"f32[4]\" = torch.ops.aten.sin.default({})\n", i,
                          i == 0 ? "x" : fmt::format("y{}", i - 1));
    text += "            return (y249,)\n";
  }
  const auto module = parseReadable(text);
  ASSERT_TRUE(module) << module.error().text();
  const auto traced = aotTrace(*module, plainInputs(*module), {.stage = AotStage::Joint});
  ASSERT_FALSE(traced);
  EXPECT_EQ(traced.error().code, ErrorCode::TooLarge);
  EXPECT_THAT(traced.error().message, ::testing::HasSubstr("more than 262144 nodes"));
}

TEST(WrittenSize, BelowTheLimitTheyAreWrittenOut) {
  const GraphModule module = calling(30, 40);
  const auto traced = aotTrace(module, plainInputs(module), {.stage = AotStage::Functional});
  ASSERT_TRUE(traced) << traced.error().text();
  const auto order = traced->module.graph.order();
  const auto sines = std::ranges::count_if(
      order, [&](NodeId id) { return traced->module.graph.node(id).isCall("aten.sin.default"_op); });
  EXPECT_EQ(sines, 30 * 40);
}

}  // namespace
}  // namespace kerf
