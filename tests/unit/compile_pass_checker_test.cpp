// PassChecker: the first pass that changes values is named, with result and node; passes that keep them are not.
#include "engine/pipeline/pass_checker.h"

#include "tests/support/pass_fixture.h"

namespace kerf {
namespace {

using namespace kerf::testing;

PassGraph twoSteps() {
  PassGraph g;
  const NodeId x = g.input("x", {4});
  const NodeId a = g.module.graph.callFunction("torch.ops.aten.relu.default", {x}, {}, "a");
  const NodeId b = g.module.graph.callFunction("torch.ops.aten.exp.default", {a}, {}, "b");
  g.finish({b});
  return g;
}

/// Puts another op in place of a node's.
Pass retargeting(const char* name, const char* node, const char* target) {
  return {.name = name, .description = "Test.", .run = [=](GraphModule& module, const PassContext&) -> Result<void> {
            if (const auto found = module.graph.find(node)) module.graph.setTarget(*found, target);
            return {};
          }};
}

void runWith(PassChecker& checker, const PassGraph& graph, std::vector<Pass> passes) {
  PassManager manager(std::move(passes));
  manager.addObserver(&checker);
  const auto result = manager.run(graph.module);
  ASSERT_TRUE(result) << result.error().text();
}

TEST(PassChecker, NamesTheFirstPassThatChangesValuesAndTheNode) {
  const PassGraph graph = twoSteps();
  PassChecker checker(graph.inputs());
  runWith(checker, graph,
          {retargeting("harmless", "none", ""), retargeting("breaks", "a", "torch.ops.aten.neg.default"),
           retargeting("later", "b", "torch.ops.aten.sin.default")});
  EXPECT_EQ(checker.failure(), "");
  EXPECT_EQ(checker.checked(), 1);
  ASSERT_TRUE(checker.first());
  EXPECT_EQ(checker.first()->pass, "breaks");
  EXPECT_EQ(checker.first()->result, "out0");
  EXPECT_EQ(checker.first()->node, "a");
  EXPECT_GT(checker.first()->maxAbsError, 0.1);
}

TEST(PassChecker, SaysNothingOfPassesThatKeepValues) {
  const PassGraph graph = twoSteps();
  PassChecker checker(graph.inputs());
  runWith(checker, graph, {retargeting("inplace", "b", "torch.ops.aten.exp_.default")});
  EXPECT_EQ(checker.checked(), 1);
  EXPECT_FALSE(checker.first());
}

TEST(PassChecker, SeesWritesIntoInputs) {
  PassGraph graph;
  const NodeId x = graph.input("x", {4});
  graph.finish({graph.module.graph.callFunction("torch.ops.aten.exp.default", {x}, {}, "y")});
  PassChecker checker(graph.inputs());
  runWith(checker, graph, {retargeting("writes", "y", "torch.ops.aten.exp_.default")});
  ASSERT_TRUE(checker.first());
  EXPECT_EQ(checker.first()->result, "in0");
}

TEST(PassChecker, NamesAPassAfterWhichTheGraphFails) {
  const PassGraph graph = twoSteps();
  PassChecker checker(graph.inputs());
  runWith(checker, graph, {retargeting("breaks", "b", "torch.ops.nowhere.missing.default")});
  ASSERT_TRUE(checker.first());
  EXPECT_EQ(checker.first()->result, "");
  EXPECT_EQ(checker.first()->node, "b");
}

TEST(PassChecker, SaysWhyNothingCanBeChecked) {
  const PassGraph graph = twoSteps();
  PassChecker checker({});
  runWith(checker, graph, {retargeting("breaks", "a", "torch.ops.aten.neg.default")});
  EXPECT_NE(checker.failure(), "");
  EXPECT_FALSE(checker.first());
}

}  // namespace
}  // namespace kerf
