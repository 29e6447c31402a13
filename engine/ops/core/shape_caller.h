// The OpCaller that only computes shapes: every op's shape rule on tensors without data.
#pragma once

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// Runs graphs with the Interpreter on metaTensor()s. Higher-order ops take their first branch and run loops once.
/// UnsupportedOp for unknown ops and where the shape depends on values.
const OpCaller& shapeCaller();

}  // namespace kerf::inline ops
