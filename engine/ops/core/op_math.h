// Decompositions that compute 16-bit floats in float32 and round once, as PyTorch's kernels do.
#pragma once

#include "engine/ops/core/composite.h"

namespace kerf::inline ops {

/// What a program computes in, and what its results become.
enum class OpMath {
  Promoted,  ///< in the promoted dtype of the tensors, float32 for 16 bits; results have the promoted dtype
  Real,      ///< the same, whole numbers as float32
  Wide,      ///< as Promoted, results stay in what was computed in
};

/// Runs `program` on tensors in the dtype that `math` says.
Result<Value> runInOpMath(Composite program, OpMath math, const BoundArguments& args, const OpRunner& run);

template <Composite program>
Result<Value> inOpMath(const BoundArguments& args, const OpRunner& run) {
  return runInOpMath(program, OpMath::Promoted, args, run);
}
template <Composite program>
Result<Value> inRealMath(const BoundArguments& args, const OpRunner& run) {
  return runInOpMath(program, OpMath::Real, args, run);
}
template <Composite program>
Result<Value> inWideMath(const BoundArguments& args, const OpRunner& run) {
  return runInOpMath(program, OpMath::Wide, args, run);
}

/// float32 for 16-bit floats (complex64 for complex32), else the dtype itself.
DType opMathType(DType dtype);

}  // namespace kerf::inline ops
