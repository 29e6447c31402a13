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

/// What other stages change is the beginning for the next pass that is checked.
TEST(PassChecker, ChecksTheStagesThatAreAskedFor) {
  const PassGraph graph = twoSteps();
  Pass early = retargeting("early", "a", "torch.ops.aten.neg.default");
  early.stage = PassStage::PreGrad;
  const Pass same = retargeting("same", "b", "torch.ops.aten.exp_.default");
  PassChecker late(graph.inputs(), 1e-3, {PassStage::PostGrad});
  runWith(late, graph, {early, same});
  EXPECT_EQ(late.checked(), 1);
  EXPECT_FALSE(late.first());
  PassChecker preGrad(graph.inputs(), 1e-3, {PassStage::PreGrad});
  runWith(preGrad, graph, {early, retargeting("later", "b", "torch.ops.aten.sin.default")});
  EXPECT_EQ(preGrad.checked(), 1);
  ASSERT_TRUE(preGrad.first());
  EXPECT_EQ(preGrad.first()->pass, "early");
}

/// What both graphs begin with is not computed again, and what is written into it does not reach the first run's values.
TEST(PassChecker, NamesTheNodeBehindABeginningThatIsWritten) {
  PassGraph graph;
  const NodeId x = graph.input("x", {4});
  const NodeId a = graph.module.graph.callFunction("torch.ops.aten.relu.default", {x}, {}, "a");
  const NodeId b = graph.module.graph.callFunction("torch.ops.aten.add_.Tensor", {a, 1}, {}, "b");
  const NodeId c = graph.module.graph.callFunction("torch.ops.aten.exp.default", {a}, {}, "c");
  graph.finish({b, c});
  PassChecker checker(graph.inputs());
  runWith(checker, graph, {retargeting("breaks", "c", "torch.ops.aten.sin.default")});
  ASSERT_TRUE(checker.first());
  EXPECT_EQ(checker.first()->node, "c");
  EXPECT_EQ(checker.first()->result, "out1");
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
