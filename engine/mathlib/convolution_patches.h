// Convolutions whose filter steps by its own size: patches that meet nowhere, so that the image is its own matrix of
// columns, in another order, and result and gradients are one product of matrices each. Private to mathlib; the
// contracts of convolution_gemm.h.
#pragma once

#include "engine/mathlib/convolution_geometry.h"

namespace kerf::inline mathlib {

/// float32 or float64, one group, no padding, and few patches of many elements: where there are more, oneDNN's kernels
/// are faster.
bool takesPatches(const ConvolutionGeometry& g, DType dtype);

/// Whether every element of the big tensor is part of a patch.
bool patchesCover(const ConvolutionGeometry& g);

/// Big and small tensors of any strides; `bias` may be undefined.
Result<void> patchGather(const ConvolutionGeometry& g, const Tensor& big, const Tensor& weight, const Tensor& bias,
                         const Tensor& small);
/// Writes what patches cover.
Result<void> patchScatter(const ConvolutionGeometry& g, const Tensor& small, const Tensor& weight, const Tensor& big);
/// Writes every element of `weight`, which is contiguous or lies channels last.
Result<void> patchWeightGradient(const ConvolutionGeometry& g, const Tensor& big, const Tensor& small,
                                 const Tensor& weight);

}  // namespace kerf::inline mathlib
