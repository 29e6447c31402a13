// Matrix products whose every element is an exact sum of exact products, rounded once. Slow; private to mathlib.
#pragma once

#include "engine/tensor/tensor.h"

namespace kerf::inline mathlib {

/// The contract of gemm() for floating dtypes. With alpha 1 the whole of a @ b + beta * out is rounded once; other
/// alphas scale the product, rounded to double first.
Result<void> exactGemm(const Tensor& a, const Tensor& b, Tensor& out, double alpha, double beta);

}  // namespace kerf::inline mathlib
