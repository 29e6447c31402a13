// Tensors that an op writes to: their elements must lie apart, and apart from what the op reads.
#pragma once

#include "engine/ir/op_caller.h"
#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// Whether PyTorch refuses a written tensor whose elements share memory. Not where each element gets the same value
/// (fill_), nor where only the view changes (t_).
bool mustNotRepeat(const OpInfo& op);
/// Whether the op writes to an argument.
bool writesArguments(const OpInfo& op);
/// Says that this memory is a copy which stands for a view: what is written to it would not reach what the view looks at.
void refuseWrites(const StoragePtr& memory);
/// ShapeMismatch where a written tensor has such memory.
Result<void> checkReachesMemory(const BoundArguments& args);
/// ShapeMismatch where a written tensor repeats elements, as expand() leaves it.
Result<void> checkWritten(const BoundArguments& args);

/// Which other arguments may look at the memory that an op writes, as PyTorch has it.
enum class ReadOfWritten : std::uint8_t {
  Any,
  Whole,  ///< the written elements themselves, not a part of them nor in another order: add_, copy_
  None,   ///< index_add_, scatter_; the written elements themselves only where they leave holes
};
ReadOfWritten readOfWritten(const OpInfo& op);
/// ShapeMismatch where an argument lies in written memory as it must not. `ops` knows which tensors look at one memory.
/// What has holes is not looked at, as in PyTorch.
Result<void> checkReadOfWritten(const BoundArguments& args, ReadOfWritten allowed, const OpCaller& ops);

}  // namespace kerf::inline ops
