// What a child does with the graphs of all ranks.
#pragma once

#include "app/workbench/protocol/rank_runs.h"
#include "app/workbench/ranks/rank_sources.h"
#include "app/workbench/ranks/rank_world.h"
#include "engine/accuracy/same_two_models.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::workbench {

/// In float64, as the reference is.
Result<std::vector<RankProgram>> ranksInFloat64(const std::vector<RankProgram>& programs);

/// Runs the compiled graphs; those of this process are compiled one after the other, before any rank starts.
Result<Replay> replayCompiled(const std::vector<RankProgram>& programs, const CompileOptions& compile,
                              const RankWorld& world = {});

/// Interpreter, compiled graphs and fp64 against each other on every rank; the first node that differs, where one does.
/// The compiled graphs talk over `world`, the others over threads or processes.
Result<RankRunsDoc> compareRanks(const std::vector<RankProgram>& programs, const CompileOptions& compile,
                                 const CompareOptions& compare, const RankWorld& world = {});

/// The ranks' graphs against the graph of one rank: outputs put together, and nodes of the same name, by the placements
/// that are known and by those that fit best where none are. All in float64.
Result<RankRunsDoc> compareWithWhole(const std::vector<RankProgram>& programs, const RankProgram& whole,
                                     const RankSharding& sharding, const RankWorld& world = {});

}  // namespace kerf::workbench
