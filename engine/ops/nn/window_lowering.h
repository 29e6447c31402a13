// Pooling and resampling as loops.
#pragma once

#include "engine/ops/core/op_facts.h"

namespace kerf::inline ops {

OpFactRows windowLowerings();
OpFactRows averageLowerings();
OpFactRows nearestLowerings();
OpFactRows resampleLowerings();

}  // namespace kerf::inline ops
