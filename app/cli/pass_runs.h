// Pass records: made from a graph, and kept in the store as a run with snapshots.
#pragma once

#include <optional>
#include <vector>

#include "app/cli/graph_source.h"
#include "engine/passes/pass_manager.h"

namespace kerf::cli {

/// Runs the compiler's passes on the module (placeholder metas must be set).
Result<std::vector<PassRecord>> recordPasses(const GraphModule& module, const PassConfig& config = {});

/// Adds a run's passes and the graphs before and after them to the store.
Result<void> addPassRecords(Store& store, std::int64_t runId, const std::vector<PassRecord>& records);

/// Stores a run of kind "passes"; returns its id, or nothing when there is no usable store.
Result<std::optional<std::int64_t>> storePasses(Context& context, const GraphSource& source,
                                                const std::vector<PassRecord>& records);

}  // namespace kerf::cli
