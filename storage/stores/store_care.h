// Looking after a store as a whole: what it takes, whether it is whole, what nothing needs any more, and making it
// small.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

/// What one kind of thing takes: how many rows, and their bytes (text and blobs as they are kept).
struct StoreShare {
  std::string kind;
  std::int64_t count = 0, bytes = 0;
};
struct StoreFigures {
  std::int64_t fileBytes = 0, logBytes = 0, freeBytes = 0;  ///< the file, its write-ahead log, unused pages
  int schema = 0;
  bool checkedPages = false;  ///< pages end with checksums
  std::vector<StoreShare> shares;
  std::int64_t linkedBytes = 0;  ///< of files that the store only links to
};
Result<StoreFigures> figuresOf(Store& store);

struct StoreDamage {
  std::string what;     ///< "page", "blob", "content", "link", "row", "log"
  std::string id;       ///< hash of the blob or content, path of the link or log; empty for a page
  std::string message;  ///< what is wrong, what it belongs to and what to do
};
struct StoreCheck {
  std::int64_t pages = 0, blobs = 0, blobBytes = 0, contents = 0, links = 0;  ///< looked at
  std::vector<StoreDamage> damage;
};
/// Reads everything there is: pages against their checksums, rows against each other, blobs and contents against their
/// hashes, linked files against what they were. Damage is no error. Cancelled when `progress` says so.
Result<StoreCheck> verifyStore(Store& store, const StoreProgress& progress = {});
/// The damage that keeps a store from being opened at all; none where `error` of opening it is of another kind.
std::optional<StoreDamage> damageOfOpening(const Error& error);

struct StoreSweep {
  std::int64_t purged = 0;                              ///< deleted items removed for good
  std::int64_t blobs = 0, contents = 0, snapshots = 0;  ///< that nothing needed
  std::int64_t bytes = 0;                               ///< of those blobs
  std::int64_t files = 0;                               ///< temporary files of dead processes beside the store
  std::int64_t reductions = 0;                          ///< marked as running whose process is dead
};
/// Purges what was deleted before `moment` (ISO 8601 UTC) and drops what nothing needs any more, a little in each
/// transaction: others may go on working, and stopping loses nothing. Cancelled when `progress` says so.
Result<StoreSweep> sweepStore(Store& store, const std::string& moment, const StoreProgress& progress = {});

/// Gives unused pages back to the file system. Environment where there is no room for the copy that this takes, or when
/// others keep the store busy. Returns how many bytes smaller it is.
Result<std::int64_t> shrinkStore(Store& store, const StoreProgress& progress = {});

/// A moment as the store writes it, `seconds` before now (after now when negative).
std::string momentBefore(std::int64_t seconds);

}  // namespace kerf::inline storage::inline stores
