// What values of a call stand for. Private to engine/ops/python.
#pragma once

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// requires_grad=True is for tensors of floats: BadInput for a result of other numbers.
Result<void> checkGradientWish(std::string_view name, const std::optional<Value>& wish, const Value& result);
/// A tensor of one known integer stands for the integer, alone and in a list of sizes.
Value withNumbers(const Value& value);

}  // namespace kerf::inline ops
