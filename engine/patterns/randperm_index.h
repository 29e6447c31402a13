// Randperm indexing: reads and sums at the places of a random permutation, without checks and without adding up.
//
//     y = index(x, [randperm(8)])      →      y = _unsafe_index(x, [randperm(8)])
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline patterns {

/// Joint stage.
Pass randpermIndexPass();

}  // namespace kerf::inline patterns
