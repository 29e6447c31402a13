// findDecompositions(): which calls of the second graph each call of the first one became, where ops were lowered or
// decomposed: a stretch of calls that takes only what the op takes and gives what it gives.
//
//     y = layer_norm(x, w, b)      →      var_mean, getitem, getitem_1, add, rsqrt, sub, mul, mul_1, add_1
#pragma once

#include <vector>

#include "engine/diff/partners.h"

namespace kerf::inline diff {

/// One op with the getitems that take its results apart, and what it became. `after` may be empty: it vanished.
struct Decomposition {
  std::vector<int> before, after;
};

/// Walks the nodes without partner of both graphs in order, source line by source line. What depends on inputs that the
/// first graph does not have (the backward half of a joint graph) is left alone. Pairs those that are one call of the
/// same op on both sides; sets Partners::valueOf of all others.
std::vector<Decomposition> findDecompositions(Partners& partners);

}  // namespace kerf::inline diff
