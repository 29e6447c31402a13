// Blobs and contents: raw bytes and repro texts by content, each stored once however often it is named.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

enum class BlobForm { AsTheyAre, Compressed };  ///< Compressed only where that makes them a tenth smaller
/// Stores the bytes unless they are there already; returns their hash. Call inside a transaction.
Result<std::string> putBlob(Database& database, std::span<const std::byte> bytes, BlobForm form = BlobForm::AsTheyAre);
/// NotFound, or BadInput when the stored bytes do not have the recorded size.
Result<StoragePtr> blob(Database& database, const std::string& hash);

/// Stores a graph's repro text and blobs; returns the content's hash. Call inside a transaction.
Result<std::string> putContent(Database& database, const NewGraph& graph);
/// Writes `directory/repro.py` and `directory/storages/…`; returns the path of the former.
Result<std::filesystem::path> materializeContent(Database& database, const std::string& hash,
                                                 const std::filesystem::path& directory);

/// Creates the folder with its parents. Environment when it cannot.
Result<void> createFolder(const std::filesystem::path& directory);

/// Now, as ISO 8601 in UTC with seconds.
std::string nowUtc();

}  // namespace kerf::inline storage::inline stores
