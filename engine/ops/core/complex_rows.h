// Kernels of ops whose arguments are complex: a second table, asked first whenever a tensor argument has a complex
// dtype.
#pragma once

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

/// The complex row for this call, or null when no argument is complex or the op's usual row serves complex dtypes too.
const OpRow* complexRow(const BoundArguments& args);

}  // namespace kerf::inline ops
