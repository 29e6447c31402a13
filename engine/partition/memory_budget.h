// What to save within a part of the memory that is best for run time (choose_saved_values_set, formats A.6).
#pragma once

#include "engine/partition/knapsack.h"
#include "engine/partition/runtime_estimate.h"
#include "engine/partition/solve_cut.h"

namespace kerf::inline partition {

struct BudgetOptions {
  BanRules rules;
  bool aggressive = false;  ///< aggressive_recomputation: the most aggressive rules whatever the budget
  KnapsackSolver solver = KnapsackSolver::Dynamic;
  RuntimeEstimator estimator = RuntimeEstimator::Flops;
};

/// Chooses for one joint graph, at several budgets: what does not depend on the budget is computed once.
class BudgetChooser {
 public:
  /// `joint` must outlive it.
  BudgetChooser(const JointGraph& joint, const BudgetOptions& options) : m_joint(joint), m_options(options) {}

  /// 0: the inputs alone; 1: the cut that is best for run time; between them the first of these that fits: the cut
  /// without the heuristics of fusion, the one without the allow-list too, and that one with a knapsack of heavy nodes
  /// saved. BadUsage outside of [0, 1].
  Result<CutSolution> choose(double budget);

 private:
  Result<const CutSolution*> solved(std::optional<CutSolution>& place, const BanRules& rules);
  Result<CutSolution> chooseByKnapsack(double budget, const BanRules& rules);
  std::vector<int> knapsackNodes() const;
  double activations(const std::vector<int>& saved) const;

  const JointGraph& m_joint;
  BudgetOptions m_options;
  std::optional<CutSolution> m_fastest, m_moreAggressive, m_aggressive;
  std::optional<std::vector<double>> m_runtimes;
  double m_least = 0, m_range = 0;  ///< gigabytes: of the inputs, and from there to the fastest cut
};

}  // namespace kerf::inline partition
