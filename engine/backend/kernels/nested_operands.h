// What a nested graph that is compiled for some operands says of them, and which others may use its code.
#pragma once

#include "engine/ir/node.h"
#include "engine/tensor/value.h"

namespace kerf::inline backend {

/// What a placeholder says of an operand. Integers are symbols, as they count loops; `position` names them. Unknown for
/// what only running tells.
ValueMeta operandMeta(const Value& operand, std::size_t position, bool symbolicIntegers);
/// Whether code for such a placeholder takes the value; where the graph `usesOffsets`, tensors must begin at the same
/// place of their storage.
bool fitsOperand(const ValueMeta& meta, const Value& value, bool usesOffsets);

}  // namespace kerf::inline backend
