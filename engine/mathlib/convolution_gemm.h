// Convolution through column matrices and gemm: any dtype gemm knows, any geometry. Private to mathlib.
#pragma once

#include "engine/mathlib/convolution_geometry.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline mathlib {

/// Types in which convolutions are computed; others are converted first.
using ConvolutionTypes = TypeList<float, double, std::complex<float>, std::complex<double>, std::int64_t>;

// All tensors are contiguous and of one computing dtype (float32/64, complex64/128 or int64).

/// small = weight applied to big (a forward convolution).
Result<void> convolutionGather(const ConvolutionGeometry& g, const Tensor& big, const Tensor& weight,
                               const Tensor& small);
/// big += transpose of weight applied to small (gradient of the input, or a transposed convolution). `big` starts at 0.
Result<void> convolutionScatter(const ConvolutionGeometry& g, const Tensor& small, const Tensor& weight,
                                const Tensor& big);
/// weight += gradient from big and small. `weight` starts at 0.
Result<void> convolutionWeightGradient(const ConvolutionGeometry& g, const Tensor& big, const Tensor& small,
                                       const Tensor& weight);

}  // namespace kerf::inline mathlib
