// Deleting with undo: rows are marked, everything that lists or opens them passes them by, and purging removes them.
#pragma once

#include <string>
#include <vector>

#include "storage/database/database.h"

namespace kerf::inline storage::inline stores {

/// Something of the store that can be deleted: 'c' capture, 'm' reduction, 'p' repro, 'r' run.
struct StoreItem {
  char kind = 'c';
  std::int64_t number = 0;

  std::string text() const { return std::string(1, kind) + std::to_string(number); }
  auto operator<=>(const StoreItem&) const = default;
};

/// What was deleted at once.
struct Deletion {
  std::int64_t id = 0;
  std::string at;                ///< ISO 8601 UTC
  std::vector<StoreItem> items;  ///< those that were named, then what depended on them
};

/// Marks the items as deleted. NotFound for one that is not there (any more); BadUsage, naming what depends on them,
/// unless `cascade` takes that along; BadUsage for a reduction that another process works on.
Result<Deletion> removeItems(Database& database, const std::vector<StoreItem>& items, bool cascade);
/// What removeItems would take along beside the items themselves.
Result<std::vector<StoreItem>> dependentsOf(Database& database, const std::vector<StoreItem>& items);

/// Undoes the deletions that took these items; all of each comes back. NotFound for an item that is not deleted;
/// BadUsage when what it depends on stays deleted.
Result<std::vector<StoreItem>> restoreItems(Database& database, const std::vector<StoreItem>& items);
/// Newest first.
Result<std::vector<Deletion>> deletions(Database& database);

/// Removes for good what was deleted before `moment` (ISO 8601 UTC); how many items that were.
Result<std::int64_t> purgeDeleted(Database& database, const std::string& moment);

/// Removes for good what one deletion took.
Result<void> purgeDeletion(Database& database, std::int64_t deletion);

/// NotFound, saying how to bring it back, when the item is deleted. An item that is not there is fine.
Result<void> checkNotDeleted(Database& database, StoreItem item);

}  // namespace kerf::inline storage::inline stores
