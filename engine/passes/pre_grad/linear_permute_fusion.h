// Linear and permute: a linear layer whose result is transposed is a product of the transposed operands.
//
//     y = torch.permute(torch.nn.functional.linear(x, w, b), [0, 2, 1]).contiguous()
//       →      y = (torch.matmul(w, torch.transpose(x, -1, -2)) + torch.unsqueeze(b, -1)).contiguous()
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Only of the last two dimensions, and where the result is read by what does not tell strides apart: it lies in memory
/// as it is read, so that the copy costs nothing (torch._inductor's linear_permute_fusion).
Pass linearPermuteFusionPass();

}  // namespace kerf::inline passes
