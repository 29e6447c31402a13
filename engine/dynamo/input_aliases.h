// Tensors that a frame's graph takes, and which of them are one.
#pragma once

#include <optional>
#include <vector>

#include "engine/dynamo/guards.h"
#include "engine/dynamo/output_graph.h"

namespace kerf::inline dynamo {

/// Inputs that are different tensors now must stay different ones. Nothing for fewer than two tensors.
std::optional<Guard> aliasGuard(const std::vector<FrameInput>& inputs);

}  // namespace kerf::inline dynamo
