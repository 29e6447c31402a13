// 0-1 knapsacks: of what may be computed again, what is worth its memory (formats A.6).
#pragma once

#include <vector>

#include "engine/support/result.h"

namespace kerf::inline partition {

struct KnapsackItem {
  double memory = 0;   ///< as a part of what the budget is a part of
  double runtime = 0;  ///< of computing it again
};

enum class KnapsackSolver : std::uint8_t { Dynamic, Greedy, Integer };

/// "dp", "greedy", "ilp".
std::string_view solverName(KnapsackSolver solver);
/// BadUsage naming the three.
Result<KnapsackSolver> solverFromName(std::string_view name);

/// By item, whether it is saved: greatest sum of runtimes with a sum of memories of at most `budget`. `Dynamic` is
/// exact for memories rounded to 1/10,000, `Greedy` takes by runtime per memory, `Integer` is exact (memories to 1e-11
/// of the budget, runtimes to 1e-18 of their sum). It looks at 2^22 partial choices at most: where there are more that
/// could be the best, it takes the best that it found, and logs a warning if that may be over 1/10,000 below the best.
/// Its errors: BadUsage for numbers that are negative or not finite, TooLarge past 262,144 items.
Result<std::vector<bool>> solveKnapsack(KnapsackSolver solver, const std::vector<KnapsackItem>& items, double budget);

/// The three by themselves.
std::vector<bool> dynamicKnapsack(const std::vector<KnapsackItem>& items, double budget);
std::vector<bool> greedyKnapsack(const std::vector<KnapsackItem>& items, double budget);
Result<std::vector<bool>> integerKnapsack(const std::vector<KnapsackItem>& items, double budget);

}  // namespace kerf::inline partition
