// migrate(): brings a database to the schema this Kerf knows, or refuses it untouched.
#pragma once

#include "engine/support/result.h"
#include "storage/database/database.h"

namespace kerf::inline storage::inline migrations {

/// "KERF" as SQLite's application_id: what tells a Kerf store from any other SQLite file.
inline constexpr std::uint32_t kerfApplicationId = 0x4B455246;

/// Number of the newest migration compiled in.
int newestSchema();

/// Looks at the file's first 100 bytes only: BadInput when it is no SQLite file, another program's, or written by a
/// newer Kerf. A file that is missing or empty is fine.
Result<void> checkStoreHeader(const std::filesystem::path& path);

/// Schema of an opened database, 0 for one that is still empty. BadInput as checkStoreHeader.
Result<int> schemaOf(Database& database);

/// Applies the missing migrations in one transaction (another process may do the same at the same time). BadInput as
/// checkStoreHeader, before anything is written. `target` is the schema to stop at (tests make stores of old versions).
Result<void> migrate(Database& database, int target = newestSchema());

}  // namespace kerf::inline storage::inline migrations
