// What quotients round, said once for kernels and loops.
#pragma once

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// Whether all elements have the same divisor, a number or a tensor without dimensions: 16-bit floats are then divided
/// in float32, and only the result is rounded.
bool dividesByOne(const BoundArguments& args);

}  // namespace kerf::inline ops
