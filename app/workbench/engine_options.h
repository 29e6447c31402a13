// What requests say of the engine's own two sides, as the oracle's options.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "minifier/oracle/engine_oracle.h"

namespace kerf::workbench {

enum class InterpreterUse { Allowed, NotAllowed };
/// "interp", "llvm"; BadUsage for an unknown name, Environment for one this build lacks ("cuda").
Result<void> checkBackend(const std::string& backend, InterpreterUse interpreter);

/// BadUsage naming the text that is no fault.
Result<FaultPlan> parsePlants(const std::vector<std::string>& plants);

Result<EngineOracleOptions> engineOptions(const std::vector<std::string>& plants, double tolerance,
                                          std::chrono::milliseconds timeout);

}  // namespace kerf::workbench
