// Shapes of collectives, and what they do where this process is the only rank.
#pragma once

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// The kernel of a collective: by the thread's RankLink; without one this process is the only rank. UnsupportedOp for a group of several ranks, else the
/// input as the op's shape rule lays it out.
Result<Value> aloneKernel(const BoundArguments& args);

/// Shape rules that rows of several schemas share; they find their arguments by name. PyTorch's meta functions are in
/// torch/distributed/_functional_collectives.py.
Result<Value> sameAsInput(const BoundArguments& args);    ///< all_reduce, broadcast: as empty_like(input)
Result<Value> sameAsInputs(const BoundArguments& args);   ///< of each tensor in the list
Result<Value> gatheredShape(const BoundArguments& args);  ///< dimension 0 times group_size, contiguous
Result<Value> gatheredShapes(const BoundArguments& args);
Result<Value> scatteredShape(const BoundArguments& args);  ///< dimension 0 divided by group_size, contiguous
Result<Value> scatteredShapes(const BoundArguments& args);
Result<Value> exchangedShape(const BoundArguments& args);  ///< dimension 0 is the sum of output_split_sizes

}  // namespace kerf::inline ops
