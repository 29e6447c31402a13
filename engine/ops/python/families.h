// What graphs take from Python itself: operator.*, math.*, symbolic numbers. One function per family, each in a file of
// this folder.
#pragma once

#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows pythonOps();
OpRows symbolOps();

OpFactRows numberDerivatives();

}  // namespace kerf::inline ops
