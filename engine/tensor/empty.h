// emptyTensor: a tensor whose elements are not set yet, for code that writes every one of them.
#pragma once

#include "engine/tensor/tensor.h"

namespace kerf::inline tensor {

/// As Storage::allocate, with arbitrary contents.
Result<StoragePtr> emptyStorage(std::int64_t bytes);

/// Contiguous, of its own storage, with arbitrary contents. Fails as Tensor::zeros does.
Result<Tensor> emptyTensor(DType dtype, const Sizes& sizes);
/// With the given strides (non-negative). Where strides leave gaps (or repeat elements) it is zero-filled, since gaps
/// may be looked at through another view.
Result<Tensor> emptyTensor(DType dtype, const Sizes& sizes, const Sizes& strides);

}  // namespace kerf::inline tensor
