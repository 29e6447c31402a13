#include "storage/migrations/migrations.h"

#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include <unistd.h>

#include "engine/support/log.h"
#include "storage/database/open_files.h"

namespace kerf::inline storage::inline migrations {

namespace {

/// Migration n brings schema n - 1 to schema n; the position in the table is its number.
constexpr std::array migrations = {
#include "storage/migrations/0001_initial.sql"
    ,
#include "storage/migrations/0002_captures_of_any_kind.sql"
    ,
#include "storage/migrations/0003_life_cycle.sql"
    ,
#include "storage/migrations/0004_slips.sql"
    ,
#include "storage/migrations/0005_notes.sql"
};

std::uint32_t bigEndian(const unsigned char* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | bytes[i];
  return value;
}

Result<void> checkVersion(const std::filesystem::path& path, std::int64_t applicationId, std::int64_t version) {
  Error error{ErrorCode::BadInput, {}, path.string(), 0, {}, {}};
  if (applicationId != kerfApplicationId) {
    error.message = "this SQLite file belongs to another program";
    return fail(error.advise(Advice::ChooseStore));
  }
  if (version > newestSchema()) {
    error.message = fmt::format("this store was written by a newer Kerf (schema {}, this Kerf knows {}); update Kerf",
                                version, newestSchema());
    return fail(error.advise(Advice::ChooseStore));
  }
  return {};
}

/// SQLite does not wait for its busy timeout when the journal mode changes, so waiting is done here.
Result<void> switchToWal(Database& database) {
  using namespace std::chrono_literals;
  Result<void> outcome;
  for (int attempt = 0; attempt < 200; ++attempt) {
    outcome = database.query("PRAGMA journal_mode = WAL", {}, [](const SqlRow&) {});
    if (outcome || outcome.error().code != ErrorCode::Environment) return outcome;
    std::this_thread::sleep_for(25ms);
  }
  return outcome;
}

Result<std::int64_t> pragma(Database& database, std::string_view sql) {
  KERF_TRY(const auto value, database.queryInteger(sql));
  return value.value_or(0);
}

Result<bool> isFresh(Database& database) {
  KERF_TRY(const auto application, pragma(database, "PRAGMA application_id"));
  KERF_TRY(const auto version, pragma(database, "PRAGMA user_version"));
  KERF_TRY(const auto objects, pragma(database, "SELECT count(*) FROM sqlite_master"));
  return application == 0 && version == 0 && objects == 0;
}

Result<void> applyMissing(Database& database, int target) {
  KERF_TRY(const auto fresh, isFresh(database));
  if (fresh) KERF_CHECK(database.executeScript(fmt::format("PRAGMA application_id = {}", kerfApplicationId)));
  KERF_TRY(const auto application, pragma(database, "PRAGMA application_id"));
  KERF_TRY(const auto version, pragma(database, "PRAGMA user_version"));
  KERF_CHECK(checkVersion(database.path(), application, version));
  logAt(LogCategory::Store, LogLevel::Info, "{}: schema {} to {}", database.path().string(), version, target);
  for (auto next = version; next < target; ++next) KERF_CHECK(database.executeScript(migrations.at(std::size_t(next))));
  return database.executeScript(fmt::format("PRAGMA user_version = {}", target));
}

/// Kerf makes tables and indices only. What else a stranger's file has would run by itself, or without end.
Result<void> checkNothingRuns(Database& database) {
  KERF_TRY(const auto count,
           pragma(database,
                  "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE '%VIRTUAL%'"));
  if (count == 0) return {};
  return fail(Error{ErrorCode::BadInput,
                    "this store has triggers, views or virtual tables, which no Kerf makes; it is not opened",
                    database.path().string(),
                    0,
                    {},
                    {}});
}

}  // namespace

int newestSchema() { return int(migrations.size()); }

Result<void> checkStoreHeader(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  if (!std::filesystem::is_regular_file(path, error))
    return fail(ErrorCode::BadInput, "the store {} is not a regular file", path.string());
  const auto header = headerUnlessOpen(path);
  if (!header && ::access(path.c_str(), R_OK) != 0)
    return fail(ErrorCode::Environment, "cannot read the store {}; check its permissions", path.string());
  if (!header || header->count == 0) return {};
  if (header->count < 100 || std::memcmp(header->bytes.data(), "SQLite format 3", 16) != 0)
    return fail(ErrorCode::BadInput, Hint{Advice::ChooseStore}, "{} is not a Kerf store", path.string());
  const std::uint32_t version = bigEndian(header->bytes.data() + 60);
  const std::uint32_t application = bigEndian(header->bytes.data() + 68);
  // An untouched header: a store whose creation was interrupted or sits in the write-ahead log. migrate() decides.
  if (application == 0 && version == 0) return {};
  return checkVersion(path, application, version);
}

Result<int> schemaOf(Database& database) {
  KERF_TRY(const auto fresh, isFresh(database));
  if (fresh) return 0;
  KERF_CHECK(checkNothingRuns(database));
  KERF_TRY(const auto application, pragma(database, "PRAGMA application_id"));
  KERF_TRY(const auto version, pragma(database, "PRAGMA user_version"));
  KERF_CHECK(checkVersion(database.path(), application, version));
  return int(version);
}

Result<void> migrate(Database& database, int target) {
  KERF_TRY(const auto fresh, isFresh(database));
  if (!fresh) {
    KERF_TRY(const auto application, pragma(database, "PRAGMA application_id"));
    KERF_TRY(const auto version, pragma(database, "PRAGMA user_version"));
    KERF_CHECK(checkVersion(database.path(), application, version));
    if (version >= target) return switchToWal(database);
  }
  KERF_CHECK(switchToWal(database));
  return database.transaction([&] { return applyMissing(database, target); });
}

}  // namespace kerf::inline storage::inline migrations
