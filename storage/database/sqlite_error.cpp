#include "storage/database/sqlite_error.h"

#include <string>
#include <string_view>

#include <sqlite3.h>

#include "storage/database/checked_pages.h"

namespace kerf::inline storage::inline database {

namespace {

ErrorCode codeOf(int sqliteCode) {
  if (sqliteCode == SQLITE_IOERR_DATA) return ErrorCode::BadInput;
  switch (sqliteCode & 0xff) {
    case SQLITE_INTERRUPT:
      return ErrorCode::Cancelled;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return ErrorCode::BadInput;
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
      return ErrorCode::Internal;
    case SQLITE_TOOBIG:
      return ErrorCode::TooLarge;
    default:
      return ErrorCode::Environment;
  }
}

struct Cause {
  std::string_view text;  ///< after what SQLite says
  Advice advice = Advice::None;
};

constexpr std::string_view damaged =
    "; the store's file is damaged: restore a copy, or move what is undamaged to another store";

Cause causeOf(int sqliteCode) {
  if (sqliteCode == SQLITE_IOERR_DATA) return {damaged, Advice::MoveStore};
  // A write without room is SQLITE_FULL, but not where the file beside the store for locks is made longer.
  if (sqliteCode == SQLITE_IOERR_SHMSIZE) return {"; the disk of the store may be full"};
  switch (sqliteCode & 0xff) {
    case SQLITE_FULL:
      return {"; the disk of the store is full"};
    case SQLITE_READONLY:
      return {"; the store can only be read: check the permissions of its file and folder", Advice::ChooseStore};
    case SQLITE_BUSY:
      return {"; another process has kept the store busy for too long"};
    case SQLITE_NOTADB:
      return {"; this is not a Kerf store", Advice::ChooseStore};
    case SQLITE_CORRUPT:
      return {damaged, Advice::MoveStore};
    case SQLITE_CANTOPEN:
      return {"; check the folder's permissions", Advice::ChooseStore};
    default:
      return {};
  }
}

/// Whether a statement of Kerf's meets other tables than the store's schema number promises.
bool meetsOtherTables(int sqliteCode, std::string_view what) {
  constexpr std::string_view signs[] = {"no such table", "no such column", "has no column named", "already exists",
                                        "duplicate column name"};
  if ((sqliteCode & 0xff) != SQLITE_ERROR) return false;
  for (const std::string_view sign : signs)
    if (what.find(sign) != std::string_view::npos) return true;
  return false;
}

}  // namespace

std::unexpected<Error> sqliteError(const SQLite::Exception& exception, const std::filesystem::path& path) {
  const int extended = exception.getExtendedErrorCode();
  int code = extended >= 0 ? extended : exception.getErrorCode();
  if (tookDamagedPage() && (code & 0xff) == SQLITE_IOERR) code = SQLITE_IOERR_DATA;
  const char* what = code == SQLITE_IOERR_DATA ? "a page has lost its checksum" : exception.what();
  if (meetsOtherTables(code, what)) {
    Error other{ErrorCode::BadInput,
                fmt::format("store: {}; its tables are not those of the schema that it names: another program or a "
                            "version under development has made it, or it is damaged",
                            what)};
    other.atFile(path.string()).advise(Advice::ChooseStore);
    return fail(std::move(other));
  }
  const Cause cause = causeOf(code);
  Error error{codeOf(code), fmt::format("store: {}{}", what, cause.text)};
  error.atFile(path.string()).advise(cause.advice);
  return fail(std::move(error));
}

std::optional<std::string> damageIn(const Error& error) {
  if (error.code != ErrorCode::BadInput || !error.message.ends_with(damaged)) return std::nullopt;
  return error.message.substr(0, error.message.size() - damaged.size());
}

}  // namespace kerf::inline storage::inline database
