// Tensors that take the place of others, and how alike two values are.
#pragma once

#include <optional>

#include "engine/ir/node.h"
#include "engine/tensor/value.h"

namespace kerf::inline minifier::inline core {

/// A tensor with a storage.
bool hasData(const Value& value);

/// `tensor` on the device and with the gradient flags of `like`.
Tensor markedAs(Tensor tensor, const Tensor& like);

/// `tensor` with size 1 wherever its stride is 0, so that every element is there once.
///
///     [16, 4], strides [0, 1]      →      [1, 4]
Tensor collapsed(const Tensor& tensor);

/// What was made of collapsed(like), marked as `like` and expanded again where `like` is expanded.
Tensor expandedAs(const Tensor& elements, const Tensor& like);

/// The first elements in each dimension, in new memory under `strides`; dimensions of stride 0 stay expanded. None if
/// the tensor is smaller than that.
std::optional<Tensor> corner(const Tensor& tensor, const Sizes& sizes, const Sizes& strides);

/// Tensors that can stand for each other: of one dtype, layout and device.
bool looksAlike(const ValueMeta& a, const ValueMeta& b);

/// Whether a size names symbols.
bool hasSymbols(const SymExpr& number);

}  // namespace kerf::inline minifier::inline core
