// Convolutions of one to three spatial dimensions, forward and backward, by torch's conventions (aten::convolution).
#pragma once

#include <array>

#include "engine/tensor/tensor.h"

namespace kerf::inline mathlib {

/// Arguments of aten::convolution. Lists have one entry per spatial dimension, or a single one for all.
struct ConvolutionSpec {
  Sizes stride{1};
  Sizes padding{0};
  Sizes dilation{1};
  bool transposed = false;
  Sizes outputPadding{0};
  std::int64_t groups = 1;
};

/// [N, Cout, spatial…]. Input [N, Cin, spatial…]; weight [Cout, Cin/groups, kernel…], or [Cin, Cout/groups, kernel…]
/// when transposed. ShapeMismatch says what does not fit.
Result<Sizes> convolutionSizes(const Sizes& input, const Sizes& weight, const ConvolutionSpec& spec);

/// New contiguous output. `bias` may be undefined. One dtype for all; float16/bfloat16 accumulate in float.
Result<Tensor> convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvolutionSpec& spec);
/// The same into an existing tensor of the right sizes and any non-overlapping strides.
Result<void> convolutionInto(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvolutionSpec& spec,
                             const Tensor& out);

/// Gradients that were not asked for stay undefined; contiguous, or channels last.
struct ConvolutionGradients {
  Tensor input, weight, bias;
};

/// `wanted`: input, weight, bias (the output_mask of aten::convolution_backward). With `channelsLast` gradients of
/// input and weight lie so where that takes no copy.
Result<ConvolutionGradients> convolutionBackward(const Tensor& gradOutput, const Tensor& input, const Tensor& weight,
                                                 const ConvolutionSpec& spec, std::array<bool, 3> wanted,
                                                 bool channelsLast = false);

}  // namespace kerf::inline mathlib
