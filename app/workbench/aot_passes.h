// The stages of AOTAutograd as rows of a pass trace, before the passes that run on what they made.
#pragma once

#include "app/workbench/aot_stage.h"
#include "app/workbench/protocol/graphs.h"

namespace kerf::workbench {

/// Every stage up to `last` with its name, in order: "aten", "functional", "joint", "joint, inductor decompositions".
std::vector<std::pair<std::string, StageChoice>> stagesUpTo(const StageChoice& last);

/// Puts a row and a snapshot for each stage in front of the trace. `captured` is the graph before all of them, with
/// shapes.
Result<void> prependStages(PassTrace& trace, const CapturedGraph& captured, const StageChoice& last, const Job& job);

}  // namespace kerf::workbench
