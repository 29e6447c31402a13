// Calls whose value nobody uses, as exported programs and logs after passes have them: a failure may need one.
#include <gtest/gtest.h>

#include "engine/ir/interpreter.h"
#include "minifier/core/subset_builder.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/reductions/reductions.h"
#include "tests/support/minifier_edits.h"

namespace kerf {
namespace {

using namespace kerf::testing;

constexpr const char* splitTarget = "torch.ops.aten.split.Tensor";

/// idle = exp(x), which nobody uses; a chain of relus ends in tanh.
Candidate withIdleCall() {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  NodeId current = x;
  for (int i = 0; i < 6; ++i) current = b.call(reluTarget, {current}, "chain");
  b.call(expTarget, {x}, "idle");
  return b.finish({b.call(tanhTarget, {current}, "last")});
}

TEST(DeadCalls, ASetThatHoldsOneReturnsIt) {
  const Candidate candidate = withIdleCall();
  RecordedValues values(candidate, {});
  SubsetBuilder builder(candidate, values);
  ASSERT_EQ(builder.units().size(), 8u);
  const auto both = builder.build({6, 7});
  ASSERT_TRUE(both);
  EXPECT_EQ(targets(both->module.graph), (std::vector<std::string>{expTarget, tanhTarget}));
  EXPECT_EQ(measure(*both).outputs, 2u);
  EXPECT_TRUE(Interpreter(both->module, referenceOps()).run(both->inputs).has_value());
}

TEST(DeadCalls, ASearchKeepsTheOneThatTheFailureNeeds) {
  GraphOracle oracle([](const Candidate& candidate) {
    const Graph& graph = candidate.module.graph;
    return calls(graph, expTarget) && calls(graph, tanhTarget) ? fails("both") : passes();
  });
  MemoryVerdictCache cache;
  const auto result = minify(withIdleCall(), oracle, cache, {}, {}, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->oneMinimal);
  EXPECT_EQ(targets(result->candidate.module.graph), (std::vector<std::string>{expTarget, tanhTarget}));
  EXPECT_EQ(result->candidate.inputs.size(), 1u);
}

TEST(DeadCalls, OneThatMayHaveAnEffectStaysAndIsNotReturned) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  b.call("torch.ops.mylib.observe.default", {x}, "observed");
  const Candidate candidate = b.finish({b.call(tanhTarget, {x}, "last")});
  RecordedValues values(candidate, {});
  SubsetBuilder builder(candidate, values);
  const auto both = builder.build({0, 1});
  ASSERT_TRUE(both);
  EXPECT_EQ(targets(both->module.graph), (std::vector<std::string>{"torch.ops.mylib.observe.default", tanhTarget}));
  EXPECT_EQ(measure(*both).outputs, 1u);
  const auto alone = builder.build({0});
  ASSERT_TRUE(alone);
  EXPECT_EQ(measure(*alone).outputs, 1u);
}

TEST(DeadCalls, OfATupleEveryItemIsReturned) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId pair = b.call(splitTarget, {x, 2}, "pair");
  b.call("operator.getitem", {pair, 0}, "left");
  const Candidate candidate = b.finish({b.call(tanhTarget, {x}, "last")});
  RecordedValues values(candidate, {});
  SubsetBuilder builder(candidate, values);
  const auto split = builder.build({0});
  ASSERT_TRUE(split);
  EXPECT_EQ(targets(split->module.graph),
            (std::vector<std::string>{splitTarget, "operator.getitem", "operator.getitem"}));
  EXPECT_EQ(measure(*split).outputs, 2u);
}

TEST(DeadCalls, AnItemThatNobodyUsesIsNotReturned) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId pair = b.call(splitTarget, {x, 2}, "pair");
  b.call("operator.getitem", {pair, 0}, "left");
  const NodeId right = b.call("operator.getitem", {pair, 1}, "right");
  const Candidate candidate = b.finish({b.call(tanhTarget, {right}, "last")});
  RecordedValues values(candidate, {});
  SubsetBuilder builder(candidate, values);
  const auto split = builder.build({0});
  ASSERT_TRUE(split);
  EXPECT_EQ(targets(split->module.graph), (std::vector<std::string>{splitTarget, "operator.getitem"}));
  EXPECT_EQ(measure(*split).outputs, 1u);
}

}  // namespace
}  // namespace kerf
