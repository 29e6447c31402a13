// shrink_inputs: a dimension gets smaller in all inputs that have it, and in the shapes that calls name.
//
//     x: f32[64, 32]; v = view(x, [64, 4, 8]); return v      →      x: f32[1, 32]; v = view(x, [1, 4, 8]); return v
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction shrinkInputs();

}  // namespace kerf::inline minifier::inline reductions
