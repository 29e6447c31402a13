// gemm and bmm: matrix products of strided tensors, on OpenBLAS where it has the dtype.
#pragma once

#include "engine/tensor/tensor.h"

namespace kerf::inline mathlib {

/// out = alpha * a @ b + beta * out for a [m, k], b [k, n], out [m, n] of one dtype and any strides (those of `out`
/// must not overlap). With beta 0 the old content of `out` is not read. float16/bfloat16 accumulate in float and round
/// once; integers wrap, alpha and beta truncate. UnsupportedOp for bool and 8-bit floats.
Result<void> gemm(const Tensor& a, const Tensor& b, Tensor& out, double alpha = 1, double beta = 0);

/// Batches of gemm: a [B, m, k], b [B, k, n], out [B, m, n].
Result<void> bmm(const Tensor& a, const Tensor& b, Tensor& out, double alpha = 1, double beta = 0);

}  // namespace kerf::inline mathlib
