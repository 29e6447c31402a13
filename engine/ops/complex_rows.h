// Kernels of ops whose arguments are complex: a second table, asked first whenever a tensor argument has a complex
// dtype.
#pragma once

#include "engine/ops/op_call.h"
#include "engine/ops/op_row.h"

namespace kerf {

/// The complex row for this call, or null when no argument is complex or the op's usual row serves complex dtypes too.
const OpRow* complexRow(const BoundArguments& args);

// Rows that replace those of the same schema for complex arguments.
OpRows complexPointwiseRows();
OpRows complexReductionRows();
OpRows complexMoveRows();

}  // namespace kerf
