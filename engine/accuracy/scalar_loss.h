// run_fwd_maybe_bwd: the scalar loss that PyTorch derives from outputs before it runs a backward pass.
#pragma once

#include <map>

#include "engine/ir/graph_module.h"
#include "engine/ir/op_caller.h"

namespace kerf::inline accuracy {

/// requires_bwd_pass: whether a floating output follows from an input or parameter that requires gradients, other than
/// through detach().
bool requiresBackwardPass(const GraphModule& module, const ValueList& inputs);

/// reduce_to_scalar_loss: sum / numel of a tensor, the mean over the parts of a list or dict. BadInput for a part that
/// is no tensor, as PyTorch's NotImplementedError.
Result<Value> reduceToScalarLoss(const Value& output, const OpCaller& ops);

/// The same for outputs of which some are there already: `parts[i]` stands for item i of `outputs`.
Result<Value> scalarLoss(const Value& outputs, const std::map<std::size_t, Value>& parts, const OpCaller& ops);

}  // namespace kerf::inline accuracy
