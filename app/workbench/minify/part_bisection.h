// bisectParts(): which pass, part of the compiler, option, fusion or kernel makes the compiled graph differ.
#pragma once

#include "app/workbench/protocol/runs.h"
#include "engine/ops/core/decomposition_tables.h"
#include "minifier/oracle/engine_oracle.h"

namespace kerf::workbench {

/// What is bisected. With a table the subsystem "decompositions" compiles `decomposed` in the place of the candidate's
/// graph, with the same inputs.
struct BisectedCompiler {
  const Candidate& candidate;
  const EngineOracleOptions& options;
  DecompositionTable table = DecompositionTable::None;
  GraphModule decomposed{};
};

/// Each trial compiles and compares in a process of its own; a crash or hang is a difference. `by` is not Node.
/// BadUsage where `by` is Config and the passes' options are all as usual.
Result<Bisection> bisectParts(BisectRequest::By by, const BisectedCompiler& compiler, const Job& job);

}  // namespace kerf::workbench
