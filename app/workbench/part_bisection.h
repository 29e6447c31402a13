// bisectParts(): which pass, part of the compiler, option, fusion or kernel makes the compiled graph differ.
#pragma once

#include "app/workbench/protocol/runs.h"
#include "minifier/oracle/engine_oracle.h"

namespace kerf::workbench {

/// Each trial compiles and compares in a process of its own; a crash or hang is a difference. `by` is not Node.
/// BadUsage where `by` is Config and the passes' options are all as usual.
Result<Bisection> bisectParts(BisectRequest::By by, const Candidate& candidate, const EngineOracleOptions& options,
                              const Job& job);

}  // namespace kerf::workbench
