// Running a graph, and taking the outputs apart.
#pragma once

#include <optional>
#include <stop_token>

#include "engine/pipeline/compile_fx.h"
#include "engine/pipeline/dtype_module.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::cli {

/// Compiles and runs once, on clones of the inputs.
Result<Value> runOn(const std::string& backend, const PassConfig& passes, const CastGraph& runnable,
                    std::stop_token stop);

/// Outputs in order, nested tuples flattened; None stays an element.
ValueList flatOutputs(const Value& result);

}  // namespace kerf::cli
