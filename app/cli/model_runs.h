// Running a graph: choosing the backend, running, and taking the outputs apart.
#pragma once

#include <optional>
#include <stop_token>

#include "engine/pipeline/dtype_module.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::cli {

/// "interp", "llvm"; BadUsage for an unknown name, Environment for one this build lacks ("cuda").
Result<void> checkBackend(const std::string& backend, bool allowInterpreter);

/// Runs once on clones of the inputs.
Result<Value> runOn(const std::string& backend, const CastGraph& runnable, std::stop_token stop);

/// Outputs in order, nested tuples flattened; None stays an element.
ValueList flatOutputs(const Value& result);

}  // namespace kerf::cli
