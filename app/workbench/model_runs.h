// Running a graph once, and taking its outputs apart.
#pragma once

#include <stop_token>
#include <string>

#include "engine/pipeline/compile_fx.h"
#include "engine/pipeline/dtype_module.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::workbench {

/// Compiles and runs once, on clones of the inputs; a precision other than "native" ("upcast", "exact") is the
/// interpreter's and takes the graph as it is.
Result<Value> runOn(const CompileOptions& options, const std::string& precision, const CastGraph& runnable,
                    std::stop_token stop);

/// Outputs in order, nested tuples flattened; None stays an element.
ValueList flatOutputs(const Value& result);

}  // namespace kerf::workbench
