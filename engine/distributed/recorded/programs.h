// The recording's own functions ("X.chain") and its names of PyTorch's functions, as calls on any OpCaller.
#pragma once

#include "engine/ir/op_caller.h"

namespace kerf::inline distributed::inline recorded {

/// What `op` ("torch.relu", "F.gelu", "T.view", "aten.add.Tensor", "X.chain") gives.
Result<Value> callRecorded(const std::string& op, const ValueList& args, const KeywordValues& kwargs,
                           const OpCaller& ops);

}  // namespace kerf::inline distributed::inline recorded
