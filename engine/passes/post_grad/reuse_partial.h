// Partial reductions: the extremum of everything is that of the extrema along a dimension.
//
//     p = amax(x, [1]); m = max(x)      →      p = amax(x, [1]); m = max(p)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// amax and max, amin and min, of tensors with at least `min_elements` (torch._inductor's reuse_partial).
Pass reusePartialPass();

}  // namespace kerf::inline passes
