// bisectPasses(): enables the compiler's passes one after the other until the compiled graph differs.
#pragma once

#include "app/workbench/protocol/runs.h"
#include "minifier/oracle/engine_oracle.h"

namespace kerf::workbench {

/// Each trial compiles and compares in a process of its own; a crash or hang is a difference.
Result<Bisection> bisectPasses(const Candidate& candidate, const EngineOracleOptions& options, const Job& job);

}  // namespace kerf::workbench
