// bisectParts(): which pass, part of the compiler, option, fusion or kernel makes the compiled graph differ.
#pragma once

#include "engine/ops/core/decomposition_tables.h"
#include "minifier/bisect/culprit_search.h"
#include "minifier/oracle/engine_oracle.h"

namespace kerf::inline minifier::inline bisect {

/// What is turned off part by part: passes, the parts of the compiler, the passes' options that are not as usual, fused
/// kernels as such, kernels' code, the model's modules.
enum class BisectedParts : unsigned char { Passes, Subsystems, Options, Fusions, Kernels, Modules };

/// What is bisected. With a table the subsystem "decompositions" compiles `decomposed` in the place of the candidate's
/// graph, with the same inputs.
struct BisectedCompiler {
  const Candidate& candidate;
  const EngineOracleOptions& options;
  DecompositionTable table = DecompositionTable::None;
  GraphModule decomposed{};
};

/// Each trial compiles and compares in a process of its own; a crash or hang is a difference. BadUsage for
/// Options where all are as usual.
Result<CulpritReport> bisectParts(BisectedParts which, const BisectedCompiler& compiler, const WorkProgress& progress);

}  // namespace kerf::inline minifier::inline bisect
