// A bound call as a graph has it.
#pragma once

#include "engine/ops/core/autocast.h"
#include "engine/ops/core/op_call.h"

namespace kerf::inline autograd {

/// Without trailing defaults, keyword-only arguments by name, as PyTorch's traces hold calls.
AutocastCall asWritten(const BoundArguments& call);

}  // namespace kerf::inline autograd
