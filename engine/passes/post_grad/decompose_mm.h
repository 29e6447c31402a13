// Small matmul: a product that is bound by memory becomes a multiplication and a sum, which fuse with their neighbours.
//
//     y = mm(a, b)      →      y = sum(mul(unsqueeze(a, 2), unsqueeze(b, 0)), [1])       (a is f32[20000, 8])
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// mm, addmm and bmm of many rows and few columns (torch._inductor's decompose_mem_bound_mm with its two limits). Off
/// by default, as there.
Pass decomposeMmPass();

}  // namespace kerf::inline passes
