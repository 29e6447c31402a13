// Tensors that torch.inference_mode() made: autograd may compute with them, but cannot save them for backward.
#pragma once

#include <functional>

#include "engine/ir/op_caller.h"
#include "engine/torch_api/variable.h"

namespace kerf::inline torch_api {

/// The way back of a call that is being recorded, with gradients of ones.
using TrialBackward = std::function<Result<ValueList>(const OpCaller& ops)>;

/// RuntimeError, in PyTorch's words, if one of a call's tensors is an inference tensor whose elements its way back reads. What
/// it reads is found by running it.
Result<void> refuseInferenceTensors(const std::vector<VariablePtr>& variables, const TrialBackward& backward);

}  // namespace kerf::inline torch_api
