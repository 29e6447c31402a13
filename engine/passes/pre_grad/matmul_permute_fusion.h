// Matmul and permute: a product whose result is transposed is the product of the transposed factors, in reverse.
//
//     y = torch.transpose(torch.matmul(a, b), 1, 2).contiguous()
//       →      y = torch.matmul(torch.transpose(b, -2, -1), torch.transpose(a, -2, -1)).contiguous()
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Only of the last two dimensions of factors that are matrices or batches of them, and where the result is read by
/// what does not tell strides apart.
Pass matmulPermuteFusionPass();

}  // namespace kerf::inline passes
