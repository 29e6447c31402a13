// The generator itself: the same graphs for a seed, valid ones, and differences that are planted are found.
#include <gtest/gtest.h>

#include <set>

#include "engine/pipeline/compiler_passes.h"
#include "tests/differential/fuzzgraph/campaign.h"
#include "tests/differential/fuzzgraph/op_nature.h"

namespace kerf::fuzzgraph {
namespace {

GeneratedGraph generated(const GenerateOptions& options) {
  auto graph = generateGraph(options);
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().text());
  return graph ? std::move(*graph) : GeneratedGraph();
}

TEST(FuzzGraph, ASeedGivesTheSameGraphAndInputs) {
  for (std::uint64_t seed = 1; seed < 12; ++seed) {
    const GeneratedGraph one = generated({seed}), two = generated({seed});
    EXPECT_EQ(one.candidate.module.contentHash(), two.candidate.module.contentHash()) << seed;
    EXPECT_TRUE(identical(Value(one.candidate.inputs), Value(two.candidate.inputs))) << seed;
  }
  EXPECT_NE(generated({1}).candidate.module.contentHash(), generated({2}).candidate.module.contentHash());
}

TEST(FuzzGraph, CallsOnlyWhatIsAskedFor) {
  const GeneratedGraph graph = generated({.seed = 5, .calls = 12, .only = {"aten.relu.", "aten.add.Tensor"}});
  for (const auto& [overload, count] : graph.calls)
    EXPECT_TRUE(overload == "aten.relu.default" || overload == "aten.add.Tensor" || overload == "aten.clone.default" ||
                overload == "aten.copy_.default")
        << overload;
  EXPECT_FALSE(generateGraph({.seed = 5, .only = {"no such op"}}));
}

TEST(FuzzGraph, GraphsReachMostOfTheTable) {
  std::set<std::string> reached;
  for (std::uint64_t seed = 1; seed <= 400; ++seed)
    for (const auto& [overload, count] : generated({.seed = seed, .calls = 20}).calls) reached.insert(overload);
  EXPECT_GT(reached.size(), generatedOps().size() * 6 / 10);
}

/// A copy_ whose value reaches only an input is a result too.
TEST(FuzzGraph, AWrittenInputCounts) {
  const Tensor before = *Tensor::zeros(DType::Float32, {2});
  const Tensor after = Tensor::scalar(1, DType::Float32).viewAs({2}, {0}, 0);
  const RunResult one{Value(ValueList()), {Value(before)}}, two{Value(ValueList()), {Value(*after.contiguous())}};
  EXPECT_FALSE(disagreement(one, one, {}));
  const auto found = disagreement(one, two, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, "values");
}

TEST(FuzzGraph, LayoutAndAliasesCount) {
  const Tensor x = *Tensor::zeros(DType::Float32, {2, 3});
  const Tensor turned = *Tensor::zerosStrided(DType::Float32, {2, 3}, {1, 2});
  const auto of = [](const Tensor& a, const Tensor& b) { return RunResult{Value(ValueList{Value(a), Value(b)}), {}}; };
  EXPECT_EQ(disagreement(of(x, x), of(x, turned), {})->kind, "strides");
  EXPECT_EQ(disagreement(of(x, x), of(x, *x.clone()), {})->kind, "aliases");
}

TEST(FuzzGraph, EveryPassRunsAloneAndIsLeftOut) {
  int alone = 0, leftOut = 0;
  for (const CheckedWay& way : allWays()) {
    alone += way.compile.passes.only && way.compile.passes.only->size() == 1;
    leftOut += !way.compile.passes.disabled.empty();
  }
  EXPECT_GE(alone, 4);
  EXPECT_EQ(leftOut, int(compilerPasses().size()));
}

}  // namespace
}  // namespace kerf::fuzzgraph
