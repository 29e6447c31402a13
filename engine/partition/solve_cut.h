// The cut itself: what to save, given what must not be computed again (solve_min_cut, formats A.6).
#pragma once

#include "engine/partition/ban_rules.h"

namespace kerf::inline partition {

struct CutSolution {
  std::vector<int> saved;  ///< places, in the order of the joint graph
  Bans bans;
};

/// Every value is an edge whose capacity is what it costs to save: bytes × 1.1^distance (from 1 to 100), twice that
/// where it would live within one kernel. The minimum cut nearest to the backward part is saved. BadInput, naming a
/// path of nodes, where a value can neither be saved nor computed again.
Result<CutSolution> solveCut(const JointGraph& joint, const BanRules& rules, const std::vector<bool>& allowed = {});

}  // namespace kerf::inline partition
