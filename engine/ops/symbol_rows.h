// Rows of arithmetic and constraints on symbolic numbers beyond operator.*: torch.sym_*, math.*, aten.sym_*.
#pragma once

#include "engine/ops/op_row.h"

namespace kerf {

OpRows symbolOps();

}  // namespace kerf
