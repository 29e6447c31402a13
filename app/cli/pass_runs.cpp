#include "app/cli/pass_runs.h"

#include "engine/ir/printer.h"

namespace kerf::cli {

namespace {

Result<void> putGraph(Store& store, const Hash128& hash, const GraphSnapshot& graph) {
  if (!graph) return {};
  return store.putSnapshot(hash.hex(), printGraphText(*graph), int(graph->size()));
}

SnapshotRow rowOf(std::int64_t runId, const PassRecord& record) {
  SnapshotRow row;
  row.runId = runId;
  row.index = record.index;
  row.pass = record.name;
  row.stage = stageName(record.stage);
  row.hashBefore = record.hashBefore.hex();
  row.hashAfter = record.hashAfter.hex();
  row.nodesBefore = int(record.nodesBefore);
  row.nodesAfter = int(record.nodesAfter);
  row.nanoseconds = record.time.count();
  row.changed = record.changed;
  return row;
}

}  // namespace

Result<std::vector<PassRecord>> recordPasses(const GraphModule& module, const PassConfig& config) {
  std::vector<PassRecord> records;
  KERF_TRY(const auto passes, selectPasses(config));
  KERF_CHECK(PassManager(passes).run(module, &records));
  return records;
}

Result<void> addPassRecords(Store& store, std::int64_t runId, const std::vector<PassRecord>& records) {
  std::vector<SnapshotRow> rows;
  for (const auto& record : records) {
    if (!record.path.empty()) continue;  // the store keeps what became of the outermost graph
    KERF_CHECK(putGraph(store, record.hashBefore, record.before));
    KERF_CHECK(putGraph(store, record.hashAfter, record.after));
    rows.push_back(rowOf(runId, record));
  }
  return store.addPasses(runId, rows);
}

Result<std::optional<std::int64_t>> storePasses(Context& context, const GraphSource& source,
                                                const std::vector<PassRecord>& records) {
  KERF_TRY(auto* store, context.storeIfUsable());
  if (store == nullptr) return std::nullopt;
  std::int64_t nanoseconds = 0;
  for (const auto& record : records) nanoseconds += record.time.count();
  KERF_TRY(const auto graphId, storedGraphId(*store, source));
  KERF_TRY(const auto runId, store->addRun({0, graphId, "passes", "", "", "", "running", 0}));
  KERF_CHECK(addPassRecords(*store, runId, records));
  KERF_CHECK(store->finishRun(runId, "ok", nanoseconds));
  return runId;
}

}  // namespace kerf::cli
