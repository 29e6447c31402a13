// stepGraph(): what a step's own graph holds, and when it would be another computation.
#include <gmock/gmock.h>

#include "engine/align/step_graph.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::GraphFixture;

/// x.add_(1) between x and what reads it; only `recorded` has a value.
Result<StepGraph> cutOf(GraphFixture& fixture, const std::string& node, const std::string& recorded) {
  const Tensor value = *Tensor::zeros(DType::Float32, {2, 3});
  return stepGraph(fixture.module, node,
                   [&](const std::string& name) { return name == recorded ? std::optional(value) : std::nullopt; });
}

TEST(StepGraphs, HoldTheCallsSinceWhatIsRecorded) {
  GraphFixture fixture;
  const NodeId x = fixture.input("x", DType::Float32, {2, 3});
  const NodeId doubled = fixture.call("aten.mul.Scalar", {x, 2.0});
  fixture.output({fixture.call("aten.relu.default", {doubled})});
  const auto cut = cutOf(fixture, "relu", "x");
  ASSERT_TRUE(cut) << cut.error().text();
  EXPECT_THAT(cut->nodes, ElementsAre("mul", "relu"));
  EXPECT_EQ(cut->inputs.size(), 1u);
}

TEST(StepGraphs, AreRefusedWhereAnotherCallWroteBefore) {
  GraphFixture fixture;
  const NodeId x = fixture.input("x", DType::Float32, {2, 3});
  fixture.call("aten.add_.Tensor", {x, 1.0});
  fixture.output({fixture.call("aten.mul.Scalar", {x, 2.0})});
  const auto cut = cutOf(fixture, "mul", "x");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::UnsupportedOp);
  EXPECT_THAT(cut.error().message, HasSubstr("writes into the memory of x before mul is called"));
}

TEST(StepGraphs, AreRefusedWhereAViewOfAnInputWasWritten) {
  GraphFixture fixture;
  const NodeId x = fixture.input("x", DType::Float32, {2, 3});
  const NodeId view = fixture.call("aten.view.default", {x, Argument::list({Argument(3), Argument(2)})});
  fixture.call("aten.zero_.default", {view});
  fixture.output({fixture.call("aten.mul.Scalar", {x, 2.0})});
  const auto cut = cutOf(fixture, "mul", "x");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::UnsupportedOp);
}

/// What is written after the step, or into a copy, changes nothing of it.
TEST(StepGraphs, AreCutWhereTheWriteDoesNotReachThem) {
  GraphFixture fixture;
  const NodeId x = fixture.input("x", DType::Float32, {2, 3});
  const NodeId copy = fixture.call("aten.clone.default", {x});
  fixture.call("aten.add_.Tensor", {copy, 1.0});
  const NodeId doubled = fixture.call("aten.mul.Scalar", {x, 2.0});
  fixture.call("aten.add_.Tensor", {x, 1.0});
  fixture.output({doubled});
  const auto cut = cutOf(fixture, "mul", "x");
  ASSERT_TRUE(cut) << cut.error().text();
  EXPECT_THAT(cut->nodes, ElementsAre("mul"));
}

}  // namespace
}  // namespace kerf
