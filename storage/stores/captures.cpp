#include "storage/stores/store_tables.h"

#include "storage/stores/blobs.h"
#include "storage/stores/capture_files.h"
#include "storage/stores/contents.h"
#include "storage/stores/deletions.h"
#include "storage/stores/prepared_blobs.h"
#include "storage/stores/row_columns.h"

namespace kerf::inline storage::inline stores {

namespace {

/// `blobs`: null for graphs that are read back from files, for which migration 2 made the empty content.
Result<void> addGraph(Database& database, std::int64_t captureId, std::int64_t ordinal, const NewGraph& graph,
                      const PreparedBlobs* blobs) {
  std::string content;
  if (blobs != nullptr) {
    KERF_TRY(content, putContent(database, graph, blobs->of(std::size_t(ordinal - 1))));
  }
  return insertRow(database,
                   GraphRow{.captureId = captureId,
                            .ordinal = int(ordinal),
                            .name = graph.name,
                            .hash = graph.hash,
                            .nodes = graph.nodes,
                            .source = graph.source},
                   {{"content", std::string_view(content)}});
}

Result<std::int64_t> insertCapture(Database& database, const NewCapture& capture, const PreparedBlobs& blobs,
                                   const StoreProgress& progress) {
  KERF_CHECK(insertRow(database, CaptureRow{.kind = capture.kind,
                                            .path = capture.path,
                                            .torchVersion = capture.torchVersion,
                                            .importedAt = nowUtc(),
                                            .contentHash = capture.contentHash}));
  const auto id = database.lastInsertId();
  KERF_CHECK(addFiles(database, id, capture.files, progress));
  std::int64_t ordinal = 0;
  for (const auto& graph : capture.graphs) {
    if (progress && !progress(double(ordinal) / double(capture.graphs.size())))
      return fail(ErrorCode::Cancelled, "stopped while storing {}; nothing of it was stored", capture.path);
    const bool hasText = capture.files.empty() || !graph.reproText.empty();
    KERF_CHECK(addGraph(database, id, ++ordinal, graph, hasText ? &blobs : nullptr));
  }
  KERF_CHECK(addRecords(database, id, capture.records));
  KERF_CHECK(addCompiles(database, id, capture.compiles));
  return id;
}

/// A capture that is imported again: what was damaged of it is mended, and it is deleted no more.
Result<void> bringBack(Database& database, std::int64_t id, const NewCapture& capture, const PreparedBlobs& blobs) {
  KERF_CHECK(healFiles(database, capture.files));
  for (std::size_t i = 0; i < capture.graphs.size(); ++i)
    KERF_CHECK(healBlobs(database, capture.graphs[i], blobs.of(i)));
  return database.execute("UPDATE captures SET deletion = NULL WHERE id = ? AND deletion IS NOT NULL", {id});
}

}  // namespace

Result<std::int64_t> addCapture(Database& database, const NewCapture& capture, const StoreProgress& progress) {
  std::int64_t id = 0;
  PreparedBlobs blobs(capture.graphs);
  KERF_CHECK(blobs.read(database, progress));
  for (const auto& file : capture.files)
    if (file.copy && file.hash) (void)isStoredWhole(database, *file.hash);
  KERF_CHECK(database.transaction([&]() -> Result<void> {
    KERF_TRY(const auto known,
             database.queryInteger("SELECT id FROM captures WHERE content_hash = ? AND path = ?",
                                   {std::string_view(capture.contentHash), std::string_view(capture.path)}));
    if (known) {
      id = *known;
      KERF_CHECK(bringBack(database, id, capture, blobs));
    } else {
      KERF_TRY(id, insertCapture(database, capture, blobs, progress));
    }
    return blobs.finish();
  }));
  return id;
}

Result<std::vector<CaptureRow>> captures(Database& database) {
  return selectRows<CaptureRow>(database, "WHERE deletion IS NULL ORDER BY id");
}

Result<CaptureRow> capture(Database& database, std::int64_t id) {
  KERF_CHECK(checkNotDeleted(database, {'c', id}));
  return selectRow<CaptureRow>(database, "WHERE id = ?", {id}, fmt::format("the store has no capture c{}", id));
}

Result<std::vector<GraphRow>> graphs(Database& database, std::optional<std::int64_t> captureId) {
  if (captureId) return selectRows<GraphRow>(database, "WHERE capture = ? ORDER BY ordinal", {*captureId});
  return selectRows<GraphRow>(
      database, "WHERE capture IN (SELECT id FROM captures WHERE deletion IS NULL) ORDER BY capture, ordinal");
}

Result<GraphRow> graph(Database& database, std::int64_t captureId, int ordinal) {
  KERF_CHECK(checkNotDeleted(database, {'c', captureId}));
  return selectRow<GraphRow>(database, "WHERE capture = ? AND ordinal = ?", {captureId, std::int64_t{ordinal}},
                             fmt::format("the store has no graph c{}/g{}", captureId, ordinal));
}

Result<GraphRow> graphById(Database& database, std::int64_t id) {
  return selectRow<GraphRow>(database, "WHERE id = ?", {id}, fmt::format("the store has no graph with id {}", id));
}

Result<void> completeGraph(Database& database, std::int64_t id, const std::string& hash, int nodes) {
  return database.execute("UPDATE graphs SET hash = ?, nodes = ? WHERE id = ?",
                          {std::string_view(hash), std::int64_t{nodes}, id});
}

Result<std::string> graphContent(Database& database, std::int64_t graphId) {
  return queryOne<std::string>(
      database, "SELECT content FROM graphs WHERE id = ?", {graphId}, [](const SqlRow& row) { return row.text(0); },
      fmt::format("the store has no graph with id {}", graphId));
}

Result<void> putSnapshot(Database& database, const std::string& hash, const std::string& graphText, int nodes) {
  return database.execute("INSERT OR IGNORE INTO snapshots(hash, text, nodes) VALUES (?, ?, ?)",
                          {std::string_view(hash), std::string_view(graphText), std::int64_t{nodes}});
}

Result<std::string> snapshotText(Database& database, const std::string& hash) {
  return queryOne<std::string>(
      database, "SELECT text FROM snapshots WHERE hash = ?", {std::string_view(hash)},
      [](const SqlRow& row) { return row.text(0); }, fmt::format("the store has no snapshot {}", hash));
}

}  // namespace kerf::inline storage::inline stores
