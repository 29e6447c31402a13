#include "storage/stores/store_tables.h"

#include "storage/stores/blobs.h"
#include "storage/stores/contents.h"
#include "storage/stores/deletions.h"
#include "storage/stores/prepared_blobs.h"
#include "storage/stores/process_owner.h"
#include "storage/stores/row_columns.h"

namespace kerf::inline storage::inline stores {

namespace {

/// Whether another process works at it.
Result<bool> isBusy(Database& database, const ReductionRow& reduction) {
  if (reduction.status != "running") return false;
  KERF_TRY(const auto owner, (queryOne<std::string>(
                                 database, "SELECT owner FROM reductions WHERE id = ?", {reduction.id},
                                 [](const SqlRow& row) { return row.text(0); }, "the reduction is gone")));
  return isOtherLiveProcess(owner);
}

}  // namespace

Result<std::int64_t> startReduction(Database& database, const ReductionRow& reduction) {
  ReductionRow row = reduction;
  if (row.startedAt.empty()) row.startedAt = nowUtc();
  const std::string owner = thisProcess();
  KERF_CHECK(insertRow(database, row, {{"owner", std::string_view(owner)}}));
  return database.lastInsertId();
}

Result<void> addStep(Database& database, const StepRow& step, const NewGraph& candidate) {
  const std::string owner = thisProcess();
  PreparedBlobs blobs({&candidate, 1});
  KERF_CHECK(blobs.read(database));
  return database.transaction([&]() -> Result<void> {
    KERF_TRY(const auto content, putContent(database, candidate, blobs.of(0)));
    KERF_CHECK(blobs.finish());
    KERF_CHECK(insertRow(database, step, {{"content", std::string_view(content)}}));
    return database.execute(
        "UPDATE reductions SET best_nodes = ?, tests = max(tests, ?), fingerprint = ?, owner = ? WHERE id = ?",
        {std::int64_t{step.nodes}, std::int64_t{step.test}, std::string_view(step.fingerprint), std::string_view(owner),
         step.reductionId});
  });
}

Result<void> finishReduction(Database& database, std::int64_t id, const std::string& status, int bestNodes, int tests,
                             const std::string& fingerprint) {
  return database.execute(
      "UPDATE reductions SET status = ?, best_nodes = ?, tests = ?, fingerprint = ? WHERE id = ?",
      {std::string_view(status), std::int64_t{bestNodes}, std::int64_t{tests}, std::string_view(fingerprint), id});
}

Result<std::optional<ReductionRow>> resumable(Database& database, std::int64_t graphId, const std::string& oracle) {
  KERF_TRY(const auto same,
           (selectRows<ReductionRow>(
               database,
               "WHERE oracle = ? AND deletion IS NULL AND status NOT IN ('finished', 'failed') AND graph IN (SELECT "
               "same.id FROM graphs AS same JOIN graphs AS mine ON same.hash = mine.hash WHERE mine.id = ?) ORDER BY "
               "id DESC",
               {std::string_view(oracle), graphId})));
  for (const auto& reduction : same) {
    KERF_TRY(const bool busy, isBusy(database, reduction));
    if (!busy) return reduction;
  }
  return std::nullopt;
}

Result<std::vector<ReductionRow>> reductions(Database& database, std::optional<std::int64_t> graphId) {
  if (!graphId) return selectRows<ReductionRow>(database, "WHERE deletion IS NULL ORDER BY id");
  return selectRows<ReductionRow>(database, "WHERE graph = ? AND deletion IS NULL ORDER BY id", {*graphId});
}

Result<ReductionRow> reduction(Database& database, std::int64_t id) {
  KERF_CHECK(checkNotDeleted(database, {'m', id}));
  return selectRow<ReductionRow>(database, "WHERE id = ?", {id}, fmt::format("the store has no reduction m{}", id));
}

Result<std::vector<StepRow>> steps(Database& database, std::int64_t reductionId) {
  return selectRows<StepRow>(database, "WHERE reduction = ? ORDER BY position", {reductionId});
}

Result<std::string> stepContent(Database& database, std::int64_t stepId) {
  return queryOne<std::string>(
      database, "SELECT content FROM steps WHERE id = ?", {stepId}, [](const SqlRow& row) { return row.text(0); },
      fmt::format("the store has no step with id {}", stepId));
}

Result<std::optional<std::string>> verdict(Database& database, const std::string& key) {
  std::optional<std::string> found;
  KERF_CHECK(database.query("SELECT json FROM verdicts WHERE key = ?", {std::string_view(key)},
                            [&](const SqlRow& row) { found = row.text(0); }));
  return found;
}

Result<void> putVerdict(Database& database, const std::string& key, const std::string& json) {
  return database.execute("INSERT OR REPLACE INTO verdicts(key, json) VALUES (?, ?)",
                          {std::string_view(key), std::string_view(json)});
}

}  // namespace kerf::inline storage::inline stores
