// StageSearch: where stages that differ begin to, from the prints of their runs.
#pragma once

#include <optional>
#include <set>

#include "engine/verification/stage_runs.h"

namespace kerf::inline verification {

class StageSearch {
 public:
  StageSearch(const StagePlan& plan, StageRuns& runs, const VerifyOptions& options)
      : m_plan(plan), m_runs(runs), m_options(options) {}

  /// Names the node of the later stage at which the difference begins. Values that `third`, another earlier stage, has
  /// are no part of it.
  Result<void> locate(const StagePair& pair, PairVerdict& verdict, std::optional<std::size_t> third = {});
  /// The stage before `next` alone is wrong, at `slots`: `verdict`, which says so, names the node of it that the stages
  /// behind do not have.
  void refine(const StagePair& next, const std::set<Slot>& slots, PairVerdict& verdict) const;
  static std::set<Slot> badSlots(const PairVerdict& verdict);

 private:
  const Stage& stage(std::size_t index) const { return m_plan.stages[index]; }
  /// Stages of one part consist of the same ops, mostly.
  bool relaxed(std::size_t a, std::size_t b) const;
  ChangedNode search(std::size_t before, std::size_t after, const std::set<Slot>& slots,
                     const std::set<NodeId>& known = {}) const;
  /// Equal in fp64 and not in the recorded dtypes.
  ChangedNode searchRounding(std::size_t before, std::size_t after, const std::set<Slot>& slots) const;
  static bool onlyRounds(const PairVerdict& verdict);

  const StagePlan& m_plan;
  StageRuns& m_runs;
  const VerifyOptions& m_options;
};

}  // namespace kerf::inline verification
