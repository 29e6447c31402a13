// Blobs: raw bytes by content, each stored once however often it is named.
#pragma once

#include "engine/support/hash.h"
#include "engine/tensor/file_pieces.h"
#include "engine/tensor/storage.h"
#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

/// Stores the bytes, whose hash this is, unless they are there already and whole. Call inside a transaction.
Result<void> putBytes(Database& database, std::span<const std::byte> bytes, const Hash128& hash);
/// The same for the bytes of a file, with little memory, compressed where that makes them a tenth smaller. `goOn` is
/// asked with the bytes done so far. BadInput when they do not have `hash` (the file changed since that was taken);
/// Cancelled. A file whose bytes are in the store is not read.
Result<void> putFile(Database& database, const FilePart& file, const Hash128& hash,
                     const std::function<bool(std::int64_t)>& goOn = {});

/// Whether the store has this blob already and whole. Storing it again looks no more: this is for before the
/// transaction, in which others would wait until all of it is read.
bool isStoredWhole(Database& database, const Hash128& hash);

/// The bytes, checked against their hash. NotFound; BadInput, naming what needs the blob, when they are damaged.
Result<StoragePtr> blob(Database& database, const std::string& hash);
/// The same into a file, with little memory; the file appears only when its bytes are right.
Result<void> writeBlob(Database& database, const std::string& hash, const std::filesystem::path& target);
/// The same without keeping anything.
Result<void> checkBlob(Database& database, const std::string& hash);
/// "capture c3 (/tmp/trace.log), reduction m2": what needs a blob; empty if nothing does.
std::string usersOfBlob(Database& database, const std::string& hash);

/// Creates the folder with its parents. Environment when it cannot.
Result<void> createFolder(const std::filesystem::path& directory);

/// Now, as ISO 8601 in UTC with seconds.
std::string nowUtc();

}  // namespace kerf::inline storage::inline stores
