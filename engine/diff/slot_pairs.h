// slotPairs(): which operands of two partners stand at the same place.
//
//     return (out, grad_w, grad_b)      return (grad_w, grad_b)      →      (grad_w, grad_w), (grad_b, grad_b)
#pragma once

#include <utility>
#include <vector>

#include "engine/diff/partners.h"

namespace kerf::inline diff {

/// Positions of operands in both graphs. Where both take as many, in order; else, and for what the graphs return, by
/// those that are partners already: what stands between two such operands belongs together if it is as much.
std::vector<std::pair<int, int>> slotPairs(const Partners& partners, int before, int after);

}  // namespace kerf::inline diff
