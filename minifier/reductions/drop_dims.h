// drop_dims: inputs lose dimensions of size 1.
//
//     x: f32[1, 4, 1]; y = relu(x)      →      x: f32[4]; y = relu(x)
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction dropDims();
/// Of all inputs, all dimensions of size 1.
std::optional<Candidate> allDimsDropped(const Candidate& candidate);

}  // namespace kerf::inline minifier::inline reductions
