// out=: into which tensors PyTorch writes a result, which dtypes it takes there, and what the tensors are afterwards. Private
// to engine/ops/python.
#pragma once

#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {

/// A call with out=.
struct OutCall {
  std::string_view name;       ///< "torch.sum"
  const OpInfo* op = nullptr;  ///< the ATen overload that it means; null where a program does
  ValueList inputs;            ///< its other arguments
  bool choosesDtype = false;   ///< dtype= is among them
};

/// What PyTorch refuses before it writes a result into `out` (writeInto): another dtype than the op's where its kernels convert
/// none, a lossy conversion, and what checkOutMemory() refuses. ShapeMismatch.
Result<void> checkOut(const OutCall& call, const Value& result, const Value& out, const OpCaller& ops);

/// Arguments that lie in the memory of `out`, one tensor of out=, which will hold `made`: ShapeMismatch where PyTorch refuses
/// them, UnsupportedOp where it gives what its loops happen to have overwritten. `ops` knows which tensors look at one memory.
Result<void> checkOutMemory(const OutCall& call, const Tensor& made, const Tensor& out, const OpCaller& ops);

/// Whether a function makes its tensor in the dtype of out= where dtype= is not given: torch.zeros, torch.sum.
bool takesDtypeOfOut(std::string_view name);

}  // namespace kerf::inline ops
