// A training compilation stage by stage: what AOTAutograd, the passes, the partitioner and the backend did.
#pragma once

#include "app/workbench/captures/aot_stage.h"
#include "app/workbench/protocol/graphs.h"
#include "engine/passes/manager/pass_config.h"

namespace kerf::workbench {

/// Compiles the captured graph for training in a process of its own; its shapes are known. A row for each stage, and
/// one for each pass in the place of its stage's; snapshots of all graphs. Where a stage after the partition fails,
/// those before it are told and `failure` says why; an earlier one is the error. A crash or hang is CompileFailed.
Result<PassTrace> traceTraining(const CapturedGraph& captured, const StageChoice& joint, const PassConfig& config,
                                const Job& job);

}  // namespace kerf::workbench
