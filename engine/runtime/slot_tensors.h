// Tensors as the slots of a program want them.
#pragma once

#include <string>

#include "engine/support/result.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline runtime {

/// "[2, 3]", as messages give it.
std::string sizesText(const Sizes& sizes);
/// Strides that address the same elements; those of size-1 dimensions do not matter.
bool sameStrides(const Tensor& tensor, const Sizes& strides);
/// A copy with these strides.
Result<Tensor> restrided(const Tensor& tensor, const Sizes& strides);

}  // namespace kerf::inline runtime
