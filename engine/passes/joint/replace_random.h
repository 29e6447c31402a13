// Random replacement: random tensors become numbers that a seed and their position give, so that they may be computed
// anywhere, and again. All seeds of a device are drawn at once.
//
//     a = rand([4]); b = randn([8])
//       →      s = inductor_seeds(2, cpu); a = inductor_random([4], inductor_lookup_seed(s, 0), "rand")
//              b = inductor_random([8], inductor_lookup_seed(s, 1), "randn")
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Off by default: these are other numbers than eager's for the same generator (`inductor_numbers`). Of float32,
/// row-major tensors (torch._inductor's replace_random).
Pass replaceRandomPass();

}  // namespace kerf::inline passes
