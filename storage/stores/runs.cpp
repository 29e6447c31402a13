#include "storage/stores/store_tables.h"

#include "storage/stores/blobs.h"

namespace kerf::inline storage::inline stores {

namespace {

constexpr std::string_view runColumns =
    "SELECT id, graph, kind, backend, options, started_at, status, nanoseconds FROM runs ";

RunRow runRow(const SqlRow& row) {
  return {row.integer(0), row.integer(1), row.text(2), row.text(3),
          row.text(4),    row.text(5),    row.text(6), row.integer(7)};
}

SnapshotRow passRow(const SqlRow& row) {
  SnapshotRow pass;
  pass.id = row.integer(0);
  pass.runId = row.integer(1);
  pass.index = int(row.integer(2));
  pass.pass = row.text(3);
  pass.stage = row.text(4);
  pass.hashBefore = row.text(5);
  pass.hashAfter = row.text(6);
  pass.nodesBefore = int(row.integer(7));
  pass.nodesAfter = int(row.integer(8));
  pass.nanoseconds = row.integer(9);
  pass.changed = row.integer(10) != 0;
  return pass;
}

OutputVerdict comparisonRow(const SqlRow& row) {
  return {.name = row.text(0),
          .same = row.integer(1) != 0,
          .reason = row.text(2),
          .maxAbsError = row.real(3),
          .rmseRes = row.real(4),
          .rmseRef = row.real(5),
          .ratioToLimit = row.real(6),
          .nanRes = row.integer(7),
          .infRes = row.integer(8)};
}

Result<void> addPass(Database& database, std::int64_t runId, const SnapshotRow& pass) {
  return database.execute(
      "INSERT INTO passes(run, position, pass, stage, hash_before, hash_after, nodes_before, nodes_after, nanoseconds, "
      "changed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {runId, std::int64_t{pass.index}, std::string_view(pass.pass), std::string_view(pass.stage),
       std::string_view(pass.hashBefore), std::string_view(pass.hashAfter), std::int64_t{pass.nodesBefore},
       std::int64_t{pass.nodesAfter}, pass.nanoseconds, std::int64_t{pass.changed}});
}

Result<void> addComparison(Database& database, std::int64_t runId, const OutputVerdict& row) {
  return database.execute(
      "INSERT INTO comparisons(run, output, same, reason, error, rmse_res, rmse_ref, ratio_to_limit, nan_count, "
      "inf_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {runId, std::string_view(row.name), std::int64_t{row.same}, std::string_view(row.reason), row.maxAbsError,
       row.rmseRes, row.rmseRef, row.ratioToLimit, row.nanRes, row.infRes});
}

}  // namespace

Result<std::int64_t> addRun(Database& database, const RunRow& run) {
  const std::string started = run.startedAt.empty() ? nowUtc() : run.startedAt;
  KERF_CHECK(database.execute(
      "INSERT INTO runs(graph, kind, backend, options, started_at, status, nanoseconds) VALUES (?, ?, ?, ?, ?, ?, ?)",
      {run.graphId, std::string_view(run.kind), std::string_view(run.backend), std::string_view(run.options),
       std::string_view(started), std::string_view(run.status), run.nanoseconds}));
  return database.lastInsertId();
}

Result<void> finishRun(Database& database, std::int64_t runId, const std::string& status, std::int64_t nanoseconds) {
  return database.execute("UPDATE runs SET status = ?, nanoseconds = ? WHERE id = ?",
                          {std::string_view(status), nanoseconds, runId});
}

Result<void> addPasses(Database& database, std::int64_t runId, const std::vector<SnapshotRow>& passes) {
  return database.transaction([&]() -> Result<void> {
    for (const auto& pass : passes) KERF_CHECK(addPass(database, runId, pass));
    return {};
  });
}

Result<void> addComparisons(Database& database, std::int64_t runId, const std::vector<OutputVerdict>& rows) {
  return database.transaction([&]() -> Result<void> {
    for (const auto& row : rows) KERF_CHECK(addComparison(database, runId, row));
    return {};
  });
}

Result<std::vector<RunRow>> runs(Database& database, std::optional<std::int64_t> graphId) {
  if (!graphId)
    return queryAll<RunRow>(database, fmt::format("{} WHERE deletion IS NULL ORDER BY id", runColumns), {}, runRow);
  return queryAll<RunRow>(database, fmt::format("{} WHERE graph = ? AND deletion IS NULL ORDER BY id", runColumns),
                          {*graphId}, runRow);
}

Result<std::vector<SnapshotRow>> passes(Database& database, std::int64_t runId) {
  return queryAll<SnapshotRow>(
      database,
      "SELECT id, run, position, pass, stage, hash_before, hash_after, nodes_before, nodes_after, nanoseconds, changed "
      "FROM passes WHERE run = ? ORDER BY position",
      {runId}, passRow);
}

Result<std::vector<OutputVerdict>> comparisons(Database& database, std::int64_t runId) {
  return queryAll<OutputVerdict>(
      database,
      "SELECT output, same, reason, error, rmse_res, rmse_ref, ratio_to_limit, nan_count, inf_count "
      "FROM comparisons WHERE run = ? ORDER BY id",
      {runId}, comparisonRow);
}

}  // namespace kerf::inline storage::inline stores
