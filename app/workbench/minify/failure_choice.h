// Which failures a minification is about, and what it met beside them.
#pragma once

#include "app/workbench/protocol/reductions.h"
#include "engine/ir/graph_module.h"
#include "minifier/core/failure_match.h"
#include "storage/stores/store.h"

namespace kerf::workbench {

/// BadUsage when the request asks for two things at once, or for an expression that is none.
Result<FailureMatch> failureMatch(const MinifyRequest& request);

/// `settings` for judging a graph that was cut down: of several faults to plant only those that find a place in it,
/// since one that finds none is an error. All of them where none does.
OracleSettings withPlantsIn(const GraphModule& module, OracleSettings settings);

/// The findings of a reduction.
Result<std::vector<SlipDoc>> slipDocs(Store& store, std::int64_t reduction);

}  // namespace kerf::workbench
