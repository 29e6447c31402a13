// Running a graph once, and taking its outputs apart.
#pragma once

#include <stop_token>
#include <string>

#include "engine/pipeline/dtype_module.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::workbench {

/// Runs once on clones of the inputs, on "interp" or another backend; `precision` is the interpreter's: "native",
/// "upcast", "exact".
Result<Value> runOn(const std::string& backend, const std::string& precision, const CastGraph& runnable,
                    std::stop_token stop);

/// Outputs in order, nested tuples flattened; None stays an element.
ValueList flatOutputs(const Value& result);

}  // namespace kerf::workbench
