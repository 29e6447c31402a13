// Tensors that an op writes to: their elements must lie apart.
#pragma once

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// Whether PyTorch refuses a written tensor whose elements share memory. Not where each element gets the same value
/// (fill_), nor where only the view changes (t_).
bool mustNotRepeat(const OpInfo& op);
/// ShapeMismatch where a written tensor repeats elements, as expand() leaves it.
Result<void> checkWritten(const BoundArguments& args);

}  // namespace kerf::inline ops
