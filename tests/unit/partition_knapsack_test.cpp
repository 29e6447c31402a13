// The three knapsack solvers on small sets whose best choice can be seen.
#include <gtest/gtest.h>

#include "engine/partition/knapsack.h"
#include "tests/support/cpu_time.h"

namespace kerf {
namespace {

using Saved = std::vector<bool>;

/// The best pair is the second and third; by runtime per memory the first comes before them.
const std::vector<KnapsackItem> items = {{0.6, 10}, {0.5, 8}, {0.5, 8}};

TEST(Knapsack, FindsTheBestChoice) {
  EXPECT_EQ(dynamicKnapsack(items, 1.0), (Saved{false, true, true}));
  const auto integer = integerKnapsack(items, 1.0);
  ASSERT_TRUE(integer) << integer.error().text();
  EXPECT_EQ(*integer, (Saved{false, true, true}));
}

/// Layers of one model: equal blocks, and small items in between.
TEST(Knapsack, RepeatedItemsAreSolvedAtOnce) {
  std::vector<KnapsackItem> many;
  for (const KnapsackItem& kind : {KnapsackItem{0.0192, 12e8}, {0.0144, 9.1e8}, {0.00488, 1e8}, {0.0048, 3e8}})
    many.insert(many.end(), 12, kind);
  many.insert(many.end(), 25, {0.0000125, 1});
  Result<Saved> saved;
  EXPECT_LT(testing::cpuSecondsOf([&] { saved = integerKnapsack(many, 0.2); }), 1 * testing::slowdown);
  ASSERT_TRUE(saved) << saved.error().text();
  double memory = 0, runtime = 0, best = 0;
  const Saved rounded = dynamicKnapsack(many, 0.2);
  for (std::size_t i = 0; i < many.size(); ++i) {
    memory += (*saved)[i] ? many[i].memory : 0;
    runtime += (*saved)[i] ? many[i].runtime : 0;
    best += rounded[i] ? many[i].runtime : 0;
  }
  EXPECT_LE(memory, 0.2);
  EXPECT_GE(runtime, best * (1 - 1e-4));
}

TEST(Knapsack, GreedyTakesByRuntimePerMemory) { EXPECT_EQ(greedyKnapsack(items, 1.0), (Saved{true, false, false})); }

TEST(Knapsack, SavesWhatWeighsNothing) {
  EXPECT_EQ(dynamicKnapsack({{0.00001, 1}, {0.9, 1}}, 0.5), (Saved{true, false}));
}

TEST(Knapsack, SavesNothingThatDoesNotFit) {
  for (const KnapsackSolver solver : {KnapsackSolver::Dynamic, KnapsackSolver::Greedy, KnapsackSolver::Integer}) {
    const auto saved = solveKnapsack(solver, {{0.3, 5}, {0.2001, 1}}, 0.2);
    ASSERT_TRUE(saved) << saved.error().text();
    EXPECT_EQ(*saved, (Saved{false, false})) << solverName(solver);
  }
}

TEST(Knapsack, RefusesOtherSolvers) {
  EXPECT_EQ(solverFromName("ilp").value(), KnapsackSolver::Integer);
  EXPECT_EQ(solverFromName("simplex").error().code, ErrorCode::BadUsage);
}

}  // namespace
}  // namespace kerf
