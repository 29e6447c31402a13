// Pooling and nearest-neighbour resampling as loops.
#pragma once

#include "engine/ops/core/op_facts.h"

namespace kerf::inline ops {

OpFactRows windowLowerings();

}  // namespace kerf::inline ops
