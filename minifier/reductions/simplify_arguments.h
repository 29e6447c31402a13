// simplify_arguments: optional operands become None, list operands get shorter.
//
//     a = layer_norm(x, [8], w, b); c = cat([a, y, z]); return c      →      a = layer_norm(x, [8]); c = cat([a])
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction simplifyArguments();

}  // namespace kerf::inline minifier::inline reductions
