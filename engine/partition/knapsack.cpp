#include "engine/partition/knapsack.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kerf::inline partition {

namespace {

constexpr double steps = 10'000;  ///< of the budget 1.0
constexpr std::string_view solverNames[] = {"dp", "greedy", "ilp"};

}  // namespace

std::string_view solverName(KnapsackSolver solver) { return solverNames[std::size_t(solver)]; }

Result<KnapsackSolver> solverFromName(std::string_view name) {
  const auto found = std::ranges::find(solverNames, name);
  if (found != std::end(solverNames)) return KnapsackSolver(found - std::begin(solverNames));
  return fail(ErrorCode::BadUsage, "there is no knapsack solver \"{}\"; choose dp, greedy or ilp", name);
}

Result<std::vector<bool>> solveKnapsack(KnapsackSolver solver, const std::vector<KnapsackItem>& items, double budget) {
  if (solver == KnapsackSolver::Integer) return integerKnapsack(items, budget);
  return solver == KnapsackSolver::Greedy ? greedyKnapsack(items, budget) : dynamicKnapsack(items, budget);
}

std::vector<bool> greedyKnapsack(const std::vector<KnapsackItem>& items, double budget) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return items[i].runtime / items[i].memory; });
  std::vector<bool> saved(items.size());
  double used = 0;
  for (const std::size_t i : order) {
    if (used + items[i].memory > budget) continue;
    used += items[i].memory;
    saved[i] = true;
  }
  return saved;
}

/// Table of items × steps in float, as PyTorch has it: of equal sums the choice depends on how they are rounded. An
/// item without weight is always in.
std::vector<bool> dynamicKnapsack(const std::vector<KnapsackItem>& items, double budget) {
  const auto width = std::size_t(std::nearbyint(budget * steps)) + 1;
  std::vector<std::size_t> weights(items.size());
  std::vector<float> table((items.size() + 1) * width, 0.0f);
  for (std::size_t i = 0; i < items.size(); ++i) {
    weights[i] = std::size_t(std::nearbyint(items[i].memory * steps));
    const float* before = &table[i * width];
    float* row = &table[(i + 1) * width];
    const auto runtime = float(items[i].runtime);
    std::copy(before, before + std::min(weights[i], width), row);
    for (std::size_t j = weights[i]; j < width; ++j) {
      const float with = before[j - weights[i]] + runtime;
      row[j] = weights[i] == 0 ? with : std::max(before[j], with);
    }
  }
  std::vector<bool> saved(items.size());
  std::size_t left = width - 1;
  for (std::size_t i = items.size(); i-- > 0;) {
    if (table[(i + 1) * width + left] == table[i * width + left]) continue;
    saved[i] = true;
    left -= weights[i];
  }
  return saved;
}

}  // namespace kerf::inline partition
