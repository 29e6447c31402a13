// Planted faults as ops: what a planting pass puts behind or before the calls that shall fail.
#pragma once

#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows plantedOps();

OpFactRows plantedLowerings();

}  // namespace kerf::inline ops
