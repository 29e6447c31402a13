// The write-ahead log beside a store ("kerf.db-wal"), which a killed process leaves: whether all of it can be read.
// SQLite takes a damaged log for one that ends earlier, and drops what was committed behind that without a word.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kerf::inline storage::inline database {

struct LogDamage {
  std::int64_t frames = 0;  ///< pages in the log
  std::int64_t whole = 0;   ///< of them, those before the damage
  /// "page 12 of 40 of the log has lost its checksum"
  std::string text() const;
};

/// Damage that loses what was committed. Nothing for a log that is whole, was cut short by a killed process, or belongs
/// to a store that a process has open (which looked at it before). Reads the log once; `store` is the main file.
std::optional<LogDamage> damageOfLog(const std::filesystem::path& store);

/// Keeps a damaged log under a name of its own, before SQLite drops it: "kerf.db-wal.damaged", with a number behind it
/// where that is taken. Empty when there is no room or right to.
std::filesystem::path keepLog(const std::filesystem::path& store);

/// The logs that keepLog() left beside a store.
std::vector<std::filesystem::path> keptLogs(const std::filesystem::path& store);

}  // namespace kerf::inline storage::inline database
