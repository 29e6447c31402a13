// StageSearch: where stages that differ begin to, from the prints of their runs.
#pragma once

#include <set>

#include "engine/verification/stage_runs.h"

namespace kerf::inline verification {

class StageSearch {
 public:
  StageSearch(const StagePlan& plan, StageRuns& runs, const VerifyOptions& options)
      : m_plan(plan), m_runs(runs), m_options(options) {}

  /// Names the node of the later stage at which the difference begins.
  Result<void> locate(const StagePair& pair, PairVerdict& verdict);
  /// A stage that differs from the one before it and from the one after it: which of its nodes it is tells the
  /// neighbour that is most like it, and if the neighbours agree with each other it alone is wrong.
  void refine(const std::vector<const StagePair*>& pairs, CompileVerdict& verdict) const;

 private:
  const Stage& stage(std::size_t index) const { return m_plan.stages[index]; }
  static std::set<Slot> badSlots(const PairVerdict& verdict);
  /// Stages of one part consist of the same ops, mostly.
  bool relaxed(std::size_t a, std::size_t b) const;
  ChangedNode search(std::size_t before, std::size_t after, const std::set<Slot>& slots,
                     const std::set<NodeId>& known = {}) const;
  /// Equal in fp64 and not in the recorded dtypes.
  ChangedNode searchRounding(std::size_t before, std::size_t after, const std::set<Slot>& slots) const;
  static bool onlyRounds(const PairVerdict& verdict);
  /// Whether two stages return equal values, as far as their prints tell.
  bool agree(std::size_t a, const std::vector<std::size_t>& others) const;
  std::map<Slot, ValuePrint> outputPrints(std::size_t index) const;
  /// The node of the odd stage that the stage after it does not have.
  void refineNode(const StagePair& next, const std::set<Slot>& slots, PairVerdict& verdict) const;

  const StagePlan& m_plan;
  StageRuns& m_runs;
  const VerifyOptions& m_options;
};

}  // namespace kerf::inline verification
