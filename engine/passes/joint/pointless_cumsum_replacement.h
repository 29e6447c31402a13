// Uniform cumsum: the running sum of equal numbers is a multiple of the position.
//
//     f = full([8], 1, dtype=int64); c = cumsum(f, 0)      →      c = iota(8, start=1, step=1)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Position masks of language models begin so (torch._inductor's pointless_cumsum_replacement). Floating-point sums are
/// replaced only where every partial sum is exact.
Pass pointlessCumsumReplacementPass();

}  // namespace kerf::inline passes
