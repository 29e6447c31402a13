// simplify_arguments: optional operands become None, list operands get shorter, other arguments become what the schema
// has for their default, or 0 or 1.
//
//     a = layer_norm(x, [8], w, b, 0.1); c = cat([a, y, z], 1)      →      a = layer_norm(x, [8]); c = cat([a])
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction simplifyArguments();
/// Every argument that may be left out is.
std::optional<Candidate> allArgumentsPlain(const Candidate& candidate);

}  // namespace kerf::inline minifier::inline reductions
