// Shape propagation: nodes that passes or a user's edit have written get the shape, dtype and strides of their values,
// as torch.fx's ShapeProp gives them, without data.
//
//     y: ? = torch.matmul(a, b)      →      y: "f32[4, 8]" = torch.matmul(a, b)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Does nothing where every value is known already, or an input's shape is not. What cannot be inferred stays as it is.
Pass shapePropPass();

}  // namespace kerf::inline passes
