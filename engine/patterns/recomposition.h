// Recomposition: layers that decompositions or models have written out become one op again.
//
//     y = w * (x * rsqrt(mean(pow(x, 2), [-1], True) + 1e-05))      →      y = _fused_rms_norm(x, [8], w, 1e-05)[0]
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline patterns {

/// Joint stage; off by default, as loops that a compiler writes of the parts fuse with what is around them.
Pass recompositionPass();

}  // namespace kerf::inline patterns
