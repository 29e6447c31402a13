// float32 convolutions through oneDNN's direct kernels, forward and backward. Private to mathlib.
#pragma once

#include "engine/mathlib/convolution.h"

namespace kerf::inline mathlib {

/// Writes every element of `out`. All tensors float32, strides positive, sizes checked before. False when oneDNN does
/// not handle this convolution (or has no memory for it): out may then hold anything.
bool convolutionOneDnn(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvolutionSpec& spec,
                       const Tensor& out);

/// Gradient of an untransposed convolution with respect to its input; the same contract. With `gradOutput` as input it
/// is the transposed convolution.
bool convolutionOneDnnBackwardData(const Tensor& gradOutput, const Tensor& weight, const ConvolutionSpec& spec,
                                   const Tensor& gradInput);

/// Gradient of an untransposed convolution with respect to its weight; the same contract.
bool convolutionOneDnnBackwardWeights(const Tensor& gradOutput, const Tensor& input, const ConvolutionSpec& spec,
                                      const Tensor& gradWeight);

}  // namespace kerf::inline mathlib
