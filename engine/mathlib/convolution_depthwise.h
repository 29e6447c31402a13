// Convolutions whose groups have one channel of the image: each channel is filtered by itself, without column matrices,
// a vector of channels at once. Private to mathlib; the contracts of convolution_gemm.h.
#pragma once

#include "engine/mathlib/convolution_geometry.h"

namespace kerf::inline mathlib {

/// Several channels, float32 or float64, axes that are no longer than what is kept about each of their positions.
bool filtersByChannel(const ConvolutionGeometry& g, DType dtype);

/// Whether that is faster than oneDNN's kernels, which win for small filters over large images alone.
bool filtersByChannelFaster(const ConvolutionGeometry& g, DType dtype);

Result<void> depthwiseGather(const ConvolutionGeometry& g, const Tensor& big, const Tensor& weight,
                             const Tensor& small);
Result<void> depthwiseScatter(const ConvolutionGeometry& g, const Tensor& small, const Tensor& weight,
                              const Tensor& big);
/// Samples are summed in at most eight shares, the same on every machine.
Result<void> depthwiseWeightGradient(const ConvolutionGeometry& g, const Tensor& big, const Tensor& small,
                                     const Tensor& weight);

}  // namespace kerf::inline mathlib
