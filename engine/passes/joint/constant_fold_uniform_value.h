// Uniform folding: a tensor whose elements are all one known number becomes aten.full, whatever made it.
//
//     o = full([4], 1.0); f = mul(o, 3); e = expand(view(f, [1, 4]), [2, 4])      →      e = full([2, 4], 3.0)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Follows one number through creation, pointwise ops, views, expand and slice, computed in the op's own dtype
/// (torch._inductor's constant_fold_uniform_value). x * 0 counts for integers only: NaN and infinities are not lost.
/// Left alone: symbolic sizes, tensors that are not row-major, unsigned and complex ones, mutated memory, and outputs
/// that share memory with others.
Pass constantFoldUniformValuePass();

}  // namespace kerf::inline passes
