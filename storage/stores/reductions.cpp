#include "storage/stores/store_tables.h"

#include "storage/stores/blobs.h"
#include "storage/stores/contents.h"
#include "storage/stores/deletions.h"
#include "storage/stores/prepared_blobs.h"
#include "storage/stores/process_owner.h"

namespace kerf::inline storage::inline stores {

namespace {

constexpr std::string_view reductionColumns =
    "SELECT id, graph, oracle, status, started_at, start_nodes, best_nodes, tests, fingerprint, owner FROM reductions ";

ReductionRow reductionRow(const SqlRow& row) {
  ReductionRow reduction;
  reduction.id = row.integer(0);
  reduction.graphId = row.integer(1);
  reduction.oracle = row.text(2);
  reduction.status = row.text(3);
  reduction.startedAt = row.text(4);
  reduction.startNodes = int(row.integer(5));
  reduction.bestNodes = int(row.integer(6));
  reduction.tests = int(row.integer(7));
  reduction.fingerprint = row.text(8);
  return reduction;
}

StepRow stepRow(const SqlRow& row) {
  StepRow step;
  step.id = row.integer(0);
  step.reductionId = row.integer(1);
  step.index = int(row.integer(2));
  step.test = int(row.integer(3));
  step.reduction = row.text(4);
  step.graphHash = row.text(5);
  step.fingerprint = row.text(6);
  step.nodes = int(row.integer(7));
  step.outputs = int(row.integer(8));
  step.inputBytes = row.integer(9);
  step.nanoseconds = row.integer(10);
  return step;
}

Result<void> insertStep(Database& database, const StepRow& step, const std::string& content) {
  return database.execute(
      "INSERT INTO steps(reduction, position, test, reduction_name, graph_hash, fingerprint, nodes, outputs, "
      "input_bytes, nanoseconds, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {step.reductionId, std::int64_t{step.index}, std::int64_t{step.test}, std::string_view(step.reduction),
       std::string_view(step.graphHash), std::string_view(step.fingerprint), std::int64_t{step.nodes},
       std::int64_t{step.outputs}, step.inputBytes, step.nanoseconds, std::string_view(content)});
}

}  // namespace

Result<std::int64_t> startReduction(Database& database, const ReductionRow& reduction) {
  const std::string started = reduction.startedAt.empty() ? nowUtc() : reduction.startedAt;
  const std::string owner = thisProcess();
  KERF_CHECK(database.execute(
      "INSERT INTO reductions(graph, oracle, status, started_at, start_nodes, best_nodes, tests, fingerprint, owner) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {reduction.graphId, std::string_view(reduction.oracle), std::string_view(reduction.status),
       std::string_view(started), std::int64_t{reduction.startNodes}, std::int64_t{reduction.bestNodes},
       std::int64_t{reduction.tests}, std::string_view(reduction.fingerprint), std::string_view(owner)}));
  return database.lastInsertId();
}

Result<void> addStep(Database& database, const StepRow& step, const NewGraph& candidate) {
  const std::string owner = thisProcess();
  PreparedBlobs blobs({&candidate, 1});
  KERF_CHECK(blobs.read(database));
  return database.transaction([&]() -> Result<void> {
    KERF_TRY(const auto content, putContent(database, candidate, blobs.of(0)));
    KERF_CHECK(blobs.finish());
    KERF_CHECK(insertStep(database, step, content));
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
  std::optional<ReductionRow> found;
  KERF_CHECK(database.query(
      fmt::format("{} WHERE oracle = ? AND deletion IS NULL AND status NOT IN ('finished', 'failed') AND graph IN "
                  "(SELECT same.id FROM graphs "
                  "AS same JOIN graphs AS mine ON same.hash = mine.hash WHERE mine.id = ?) ORDER BY id DESC",
                  reductionColumns),
      {std::string_view(oracle), graphId}, [&](const SqlRow& row) {
        const bool busy = row.text(3) == "running" && isOtherLiveProcess(row.text(9));
        if (!found && !busy) found = reductionRow(row);
      }));
  return found;
}

Result<std::vector<ReductionRow>> reductions(Database& database, std::optional<std::int64_t> graphId) {
  if (!graphId)
    return queryAll<ReductionRow>(database, fmt::format("{} WHERE deletion IS NULL ORDER BY id", reductionColumns), {},
                                  reductionRow);
  return queryAll<ReductionRow>(database,
                                fmt::format("{} WHERE graph = ? AND deletion IS NULL ORDER BY id", reductionColumns),
                                {*graphId}, reductionRow);
}

Result<ReductionRow> reduction(Database& database, std::int64_t id) {
  KERF_CHECK(checkNotDeleted(database, {'m', id}));
  return queryOne<ReductionRow>(database, fmt::format("{} WHERE id = ?", reductionColumns), {id}, reductionRow,
                                fmt::format("the store has no reduction m{}", id));
}

Result<std::vector<StepRow>> steps(Database& database, std::int64_t reductionId) {
  return queryAll<StepRow>(
      database,
      "SELECT id, reduction, position, test, reduction_name, graph_hash, fingerprint, nodes, outputs, input_bytes, "
      "nanoseconds FROM steps WHERE reduction = ? ORDER BY position",
      {reductionId}, stepRow);
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
