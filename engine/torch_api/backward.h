// backward(): the walk over the nodes behind tensors, as torch.autograd's engine makes it.
#pragma once

#include "engine/torch_api/grad_node.h"

namespace kerf::inline torch_api {

struct BackwardCall {
  std::vector<VariablePtr> tensors;
  ValueList grads;  ///< by tensor; none: one, where the tensor has one element
  bool retainGraph = false;
  bool createGraph = false;
  std::vector<VariablePtr> inputs;  ///< empty: all leaves
  bool allowUnreachable = true;
  bool accumulates = true;  ///< into .grad; else the gradients of the inputs are the result
};

/// Gradients of the inputs, where they were asked for; those with a graph live in the caller's CallScope. Errors of hooks and of autograd.Functions stay Python's: Internal
/// with an exception pending.
Result<ValueList> runBackward(const BackwardCall& call);

/// torch.autograd.set_detect_anomaly: a node that passes NaN on ends backward() with its name.
bool& anomalyMode();

}  // namespace kerf::inline torch_api
