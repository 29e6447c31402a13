// Contents: repro texts with the blobs that they name, each stored once however often a graph has it.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

/// Whether a content's text and the names of its blobs are those that it was stored with. BadInput otherwise.
Result<void> checkContent(Database& database, const std::string& hash);
/// Stores a graph's repro text and blobs, which have these hashes (PreparedBlobs); returns the content's hash. Call
/// inside a transaction.
Result<std::string> putContent(Database& database, const NewGraph& graph, std::span<const Hash128> hashes);
/// Only the blobs, where damage may have to be mended.
Result<void> healBlobs(Database& database, const NewGraph& graph, std::span<const Hash128> hashes);
/// Writes `directory/repro.py` and `directory/storages/…`; returns the path of the former.
Result<std::filesystem::path> materializeContent(Database& database, const std::string& hash,
                                                 const std::filesystem::path& directory);

// What a capture holds beside its graphs, as rows: records and compile ids.

/// Call inside a transaction.
Result<void> addRecords(Database& database, std::int64_t captureId, const std::vector<RecordRow>& records);
Result<void> addCompiles(Database& database, std::int64_t captureId, const std::vector<CompileRow>& compiles);

Result<std::vector<RecordRow>> records(Database& database, std::int64_t captureId);
Result<RecordRow> record(Database& database, std::int64_t captureId, int ordinal);
Result<std::vector<CompileRow>> compiles(Database& database, std::int64_t captureId);

}  // namespace kerf::inline storage::inline stores
