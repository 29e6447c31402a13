// Decompositions that compute 16-bit floats in float32 and round once, as PyTorch's kernels do.
#pragma once

#include "engine/ops/core/composite.h"

namespace kerf::inline ops {

/// Runs `program` on float32 copies of the 16-bit arguments; its result rounds to the dtype of the first tensor.
Result<Value> runInOpMath(Composite program, const BoundArguments& args, const OpRunner& run);

template <Composite program>
Result<Value> inOpMath(const BoundArguments& args, const OpRunner& run) {
  return runInOpMath(program, args, run);
}

}  // namespace kerf::inline ops
