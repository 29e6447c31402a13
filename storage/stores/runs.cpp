#include "storage/stores/store_tables.h"

#include "storage/stores/blobs.h"
#include "storage/stores/row_columns.h"

namespace kerf::inline storage::inline stores {

Result<std::int64_t> addRun(Database& database, const RunRow& run) {
  RunRow row = run;
  if (row.startedAt.empty()) row.startedAt = nowUtc();
  KERF_CHECK(insertRow(database, row));
  return database.lastInsertId();
}

Result<void> finishRun(Database& database, std::int64_t runId, const std::string& status, std::int64_t nanoseconds) {
  return database.execute("UPDATE runs SET status = ?, nanoseconds = ? WHERE id = ?",
                          {std::string_view(status), nanoseconds, runId});
}

Result<void> addPasses(Database& database, std::int64_t runId, const std::vector<SnapshotRow>& passes) {
  return database.transaction([&]() -> Result<void> {
    for (const auto& pass : passes) KERF_CHECK(insertRow(database, pass, {{"run", runId}}));
    return {};
  });
}

Result<void> addComparisons(Database& database, std::int64_t runId, const std::vector<OutputVerdict>& rows) {
  return database.transaction([&]() -> Result<void> {
    for (const auto& row : rows) KERF_CHECK(insertRow(database, row, {{"run", runId}}));
    return {};
  });
}

Result<std::vector<RunRow>> runs(Database& database, std::optional<std::int64_t> graphId) {
  if (!graphId) return selectRows<RunRow>(database, "WHERE deletion IS NULL ORDER BY id");
  return selectRows<RunRow>(database, "WHERE graph = ? AND deletion IS NULL ORDER BY id", {*graphId});
}

Result<std::vector<SnapshotRow>> passes(Database& database, std::int64_t runId) {
  return selectRows<SnapshotRow>(database, "WHERE run = ? ORDER BY position", {runId});
}

Result<std::vector<OutputVerdict>> comparisons(Database& database, std::int64_t runId) {
  return selectRows<OutputVerdict>(database, "WHERE run = ? ORDER BY id", {runId});
}

}  // namespace kerf::inline storage::inline stores
