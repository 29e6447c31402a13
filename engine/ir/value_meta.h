// Between run-time values and what nodes know of them: a tensor without data is a TensorMeta, a number a SymMeta.
#pragma once

#include <optional>

#include "engine/ir/node.h"
#include "engine/tensor/value.h"

namespace kerf::inline ir {

/// Sizes, strides, offset, dtype and device of tensors; integers as constants; lists item by item; expressions as their
/// text and hint. Other values: unknown.
ValueMeta metaOf(const Value& value);
TensorMeta metaOf(const Tensor& tensor);
/// The meta as a value: tensors without storage (row-major where the meta has no strides). In the scope of a ShapeEnv
/// sizes with a text are expressions; outside of one everything is its hint, and a size without a number gives none.
/// Unknown items of a list are None.
std::optional<Value> valueOf(const ValueMeta& meta);

}  // namespace kerf::inline ir
