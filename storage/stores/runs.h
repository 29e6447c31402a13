// Runs (compile, run, compare) of a stored graph, the passes they ran and the comparisons they made.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

Result<std::int64_t> addRun(Database& database, const RunRow& run);
Result<void> finishRun(Database& database, std::int64_t runId, const std::string& status, std::int64_t nanoseconds);
Result<void> addPasses(Database& database, std::int64_t runId, const std::vector<SnapshotRow>& passes);
Result<void> addComparisons(Database& database, std::int64_t runId, const std::vector<ComparisonRow>& rows);
Result<std::vector<RunRow>> runs(Database& database, std::optional<std::int64_t> graphId);
Result<std::vector<SnapshotRow>> passes(Database& database, std::int64_t runId);
Result<std::vector<ComparisonRow>> comparisons(Database& database, std::int64_t runId);

}  // namespace kerf::inline storage::inline stores
