// Convolutions whose filter steps by its own size: patches that meet nowhere, so that the image is its own matrix of
// columns, in another order, and result and gradients are one product of matrices each. Private to mathlib; the contracts
// of convolution_gemm.h.
#pragma once

#include "engine/mathlib/convolution_geometry.h"

namespace kerf::inline mathlib {

/// float32 or float64, one group, no padding, and few patches of many elements: where there are more, oneDNN's kernels
/// are faster.
bool takesPatches(const ConvolutionGeometry& g, DType dtype);

Result<void> patchGather(const ConvolutionGeometry& g, const Tensor& big, const Tensor& weight, const Tensor& small);
Result<void> patchScatter(const ConvolutionGeometry& g, const Tensor& small, const Tensor& weight, const Tensor& big);
Result<void> patchWeightGradient(const ConvolutionGeometry& g, const Tensor& big, const Tensor& small,
                                 const Tensor& weight);

}  // namespace kerf::inline mathlib
