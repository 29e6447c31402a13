// Captures and their graphs, and the snapshots that passes leave.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

/// One transaction; the same content hash and path again returns the old row's id.
Result<std::int64_t> addCapture(Database& database, const NewCapture& capture, const StoreProgress& progress);
Result<std::vector<CaptureRow>> captures(Database& database);
Result<CaptureRow> capture(Database& database, std::int64_t id);
Result<std::vector<GraphRow>> graphs(Database& database, std::optional<std::int64_t> captureId);
Result<GraphRow> graph(Database& database, std::int64_t captureId, int ordinal);
Result<GraphRow> graphById(Database& database, std::int64_t id);
Result<void> completeGraph(Database& database, std::int64_t id, const std::string& hash, int nodes);
/// Hash of the graph's repro text; empty when the graph is read back from its capture's files.
Result<std::string> graphContent(Database& database, std::int64_t graphId);

Result<void> putSnapshot(Database& database, const std::string& hash, const std::string& graphText, int nodes);
Result<std::string> snapshotText(Database& database, const std::string& hash);

}  // namespace kerf::inline storage::inline stores
