// The inputs that all stages of a compilation share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/symbolic/symbolic.h"
#include "engine/verification/stage_run.h"

namespace kerf::inline verification {

struct StageInputs {
  SlotValues values;  ///< by slot, in the recorded dtypes
  SymbolBindings symbols;
  std::vector<std::string> notes;  ///< graphs from which no inputs could be made, and why; missing storages
};

/// Inputs of one graph, in placeholder order, with `symbols` in place of its own values.
using LoadStage = std::function<Result<ValueList>(CapturedGraph graph, const SymbolBindings& symbols)>;
/// CapturedGraph::loadInputs.
LoadStage loadWith(const LoadOptions& options);

/// Makes inputs from the graph that says most of them (ATen ops tell more of an input than Python functions), and from
/// the others what that one does not take. Then every graph of the plan gets the symbols' values. `symbols` may name
/// some that only some graphs have.
Result<StageInputs> makeStageInputs(Capture& capture, const StagePlan& plan, const SymbolBindings& symbols,
                                    const LoadStage& load);

}  // namespace kerf::inline verification
