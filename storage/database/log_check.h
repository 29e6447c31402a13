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
  std::int64_t frames = 0;  ///< pages that were committed into the log, as far as that is known
  std::int64_t whole = 0;   ///< of them, those that can be read: up to the last commit before the damage
  enum class Where { Pages, Header, Missing } where = Where::Pages;
  /// "the log can be read up to page 12 of 40", "the log, which had 40 pages, is gone or cut short"
  std::string text() const;
  std::filesystem::path kept = {};  ///< where keepDamagedLog() put it; empty when there was no room or right to
};

/// Damage that loses what was committed. Nothing for a log that is whole, was cut short by a killed process, or belongs
/// to a store that a process has open (which looked at it before). A log that is gone, or shorter than one page, is
/// damage where its index ("kerf.db-shm") tells of pages that are nowhere else. Reads the log once; `store` is the main
/// file.
std::optional<LogDamage> damageOfLog(const std::filesystem::path& store);

/// The same, and keeps what there is of the damaged log before SQLite drops it: as "kerf.db-wal.damaged", with a number
/// behind it where that is taken. No file that is there already is touched.
std::optional<LogDamage> keepDamagedLog(const std::filesystem::path& store);

/// The logs that keepDamagedLog() left beside a store.
std::vector<std::filesystem::path> keptLogs(const std::filesystem::path& store);

}  // namespace kerf::inline storage::inline database
