// Convolutions whose groups have one channel on either side: each channel is filtered by itself, without column
// matrices. Private to mathlib; the contracts of convolution_gemm.h.
#pragma once

#include "engine/mathlib/convolution_geometry.h"

namespace kerf::inline mathlib {

inline bool isDepthwise(const ConvolutionGeometry& g) {
  return g.groups > 1 && g.bigPerGroup() == 1 && g.smallPerGroup() == 1;
}

Result<void> depthwiseGather(const ConvolutionGeometry& g, const Tensor& big, const Tensor& weight,
                             const Tensor& small);
Result<void> depthwiseScatter(const ConvolutionGeometry& g, const Tensor& small, const Tensor& weight,
                              const Tensor& big);
Result<void> depthwiseWeightGradient(const ConvolutionGeometry& g, const Tensor& big, const Tensor& small,
                                     const Tensor& weight);

}  // namespace kerf::inline mathlib
