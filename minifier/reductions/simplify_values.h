// simplify_values: an input's values become zeros, ones, or small integers.
//
//     x = [0.73, -1.2]      →      x = [0, 0]
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction simplifyValues();
/// Zeros in all inputs.
std::optional<Candidate> allZeros(const Candidate& candidate);

}  // namespace kerf::inline minifier::inline reductions
