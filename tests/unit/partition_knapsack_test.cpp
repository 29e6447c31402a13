// The three knapsack solvers on small sets whose best choice can be seen.
#include <gtest/gtest.h>

#include "engine/partition/knapsack.h"

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
