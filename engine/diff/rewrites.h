// Rewrites: what nodes of the first graph became where they have no partner of their own.
//
//     layer_norm → var_mean, getitem, …, add        rand → inductor_seeds, inductor_lookup_seed, inductor_random
#pragma once

#include <vector>

#include "engine/diff/partners.h"
#include "engine/diff/recorded_origins.h"
#include "engine/diff/value_classes.h"

namespace kerf::inline diff {

/// By positions; no node is in two of them.
struct FoundRewrite {
  enum class Kind : unsigned char {
    Rewritten,   ///< `before` became `after`
    Merged,      ///< `before` computed what `after`, which has a partner, computes
    Duplicated,  ///< `after` computes again what `before`, which has a partner, computed
  };
  Kind kind = Kind::Rewritten;
  std::vector<int> before, after;
  Evidence evidence = Evidence::None;
};

/// Partners where the compiler recorded one node of the same op, rewrites where it recorded others; those without
/// partner so far only.
std::vector<FoundRewrite> recordedRewrites(Partners& partners, const RecordedOrigins& origins);

/// Decompositions (decompositions.h) in the form of rewrites.
std::vector<FoundRewrite> loweredRewrites(Partners& partners);

/// Partners take different nodes at the same place: the nodes without partner behind both, where they take the same
/// values themselves, are added to `found`, or to the rewrite there whose results they take. Each node is looked at
/// once. Nodes of which a user now takes the operand get its value.
void replaceRegions(Partners& partners, std::vector<FoundRewrite>& found);

/// Nodes without partner that compute what a node with a partner computes.
std::vector<FoundRewrite> mergedNodes(Partners& partners, const Classes& classes);

}  // namespace kerf::inline diff
