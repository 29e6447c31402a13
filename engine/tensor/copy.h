// copyElements: assigns one tensor's elements to another of the same shape, whatever their strides and dtypes.
#pragma once

#include "engine/tensor/tensor.h"

namespace kerf::inline tensor {

/// destination[i] = convert(source[i]). ShapeMismatch when sizes differ; the two must not overlap unless identical.
/// Strides of `source` may be 0 (expanded); those of `destination` must not be.
Result<void> copyElements(const Tensor& source, const Tensor& destination);

}  // namespace kerf::inline tensor
