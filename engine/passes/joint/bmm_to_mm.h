// Single batch matmul: a product of batches of one is a product of matrices.
//
//     y = bmm(a, b)      →      y = unsqueeze(mm(squeeze(a, 0), squeeze(b, 0)), 0)         (a is f32[1, 4, 8])
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// torch._inductor's bmm_to_mm. On CUDA by default, as there; `devices` says on which.
Pass bmmToMmPass();

}  // namespace kerf::inline passes
