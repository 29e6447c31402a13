// Which nodes the backward graph must not compute again, and by which rule (formats A.6).
#pragma once

#include <string_view>
#include <vector>

#include "engine/partition/joint_graph.h"

namespace kerf::inline partition {

/// The rules that a memory budget may drop, and two constants of functorch's config.
struct BanRules {
  bool usedFarApart = true;
  bool longChains = true;
  bool materialized = true;
  bool allowList = true;  ///< only what is on the allow-list may be computed again; else all but random and heavy ops
  bool reductions = true;
  bool recomputesViews = false;     ///< views are never saved
  int farthestFromBackward = 1000;  ///< max_dist_from_bw
  bool freeParameters = true;       ///< treat_parameters_as_free_to_save

  /// Without the three heuristics of fusion.
  BanRules moreAggressive() const;
  /// Without the allow-list too.
  BanRules aggressive() const;
};

struct Bans {
  std::vector<std::string_view> rules;  ///< by place; empty: may be computed again
  std::vector<int> order;               ///< banned places, in the order in which they were found
  bool banned(int place) const { return !rules[std::size_t(place)].empty(); }
};

/// `allowed`, by place (or empty): what a budget lets be computed again; collectives stay banned.
Bans banNodes(const JointGraph& joint, const BanRules& rules, const std::vector<bool>& allowed);

/// Whether Inductor fuses `user` into the kernel of `producer`.
bool fuses(const JointGraph& joint, int producer, int user);
/// Whether some user reads the value from memory rather than within one kernel.
bool isMaterialized(const JointGraph& joint, int place);

}  // namespace kerf::inline partition
