// Batch norm folding: a batch norm of inference after a convolution or a linear layer goes into that layer's weights.
//
//     c = torch.conv2d(x, w, b); y = torch.nn.functional.batch_norm(c, mean, var, g, h)
//       →      y = torch.conv2d(x, w', b')          w' = w * s, b' = (b - mean) * s + h, s = g / sqrt(var + eps)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Only where the batch norm alone reads the layer, nothing is written between them, and all parameters are attributes
/// of the module that nothing writes, of float32 or float64. `inputs`: also where they are inputs of the graph, which
/// then computes the new ones in each run. torch.nn.utils.fusion has the formulas.
Pass fuseConvBnPass();

}  // namespace kerf::inline passes
