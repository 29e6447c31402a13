// The files that a capture was read from: kept as blobs, or by path, size and time where they are too large.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

/// Keeps the files of capture `captureId`. Call inside a transaction. BadInput for a name that is no relative path;
/// Cancelled when `progress` says so.
Result<void> addFiles(Database& database, std::int64_t captureId, const std::vector<NewFile>& files,
                      const StoreProgress& progress);
/// Makes copies that were damaged in the store anew from the files. Call inside a transaction.
Result<void> healFiles(Database& database, const std::vector<NewFile>& files);

/// A file that the store only links to.
struct LinkedFile {
  std::int64_t capture = 0;
  std::string name, source;
  std::int64_t bytes = 0;
};
Result<std::vector<LinkedFile>> linkedFiles(Database& database);
/// The hash of a file that is there and the same as when it was imported. NotFound or BadInput otherwise.
Result<Hash128> checkLinkedFile(Database& database, const LinkedFile& file);

/// Writes them below `directory`, links what stayed where it was, and returns the path that was imported.
Result<std::filesystem::path> materializeFiles(Database& database, std::int64_t captureId,
                                               const std::filesystem::path& directory);

}  // namespace kerf::inline storage::inline stores
