// The files that a capture was read from: kept as blobs, or by path, size and time where they are too large.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

/// Keeps the files of capture `captureId`. Call inside a transaction. BadInput for a name that is no relative path;
/// Cancelled when `progress` says so.
Result<void> addFiles(Database& database, std::int64_t captureId, const std::vector<NewFile>& files,
                      const StoreProgress& progress);
/// Writes them below `directory`, links what stayed where it was, and returns the path that was imported.
Result<std::filesystem::path> materializeFiles(Database& database, std::int64_t captureId,
                                               const std::filesystem::path& directory);

}  // namespace kerf::inline storage::inline stores
