// A tensor's elements as complex doubles and back, for every dtype, complex32 included.
#pragma once

#include <complex>
#include <vector>

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

using Z = std::complex<double>;
using Complexes = std::vector<Z>;

/// complex64 for float32, complex128 for float64, complex32 for float16; complex dtypes stay, others give complex64.
DType toComplex(DType dtype);
/// The dtype of a complex dtype's parts; others stay.
DType partOf(DType dtype);

/// Row-major elements; real tensors have zero imaginary parts.
Result<Complexes> complexesOf(const Tensor& tensor);
/// As if broadcast to `sizes`; ShapeMismatch when it does not.
Result<Complexes> complexesOf(const Tensor& tensor, const Sizes& sizes);
/// Row-major values into `out`: real dtypes take the real part, bool is `!= 0`.
Result<void> writeComplexes(const Complexes& values, const Tensor& out);

/// A complex tensor as its parts: one more dimension of size 2.
Tensor partsView(const Tensor& tensor);

/// Products and quotients without C's recovery of infinities, as torch computes them (quotients by Smith's method).
Z multiply(Z a, Z b);
Z divide(Z a, Z b);

}  // namespace kerf::inline ops
