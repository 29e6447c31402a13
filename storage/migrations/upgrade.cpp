#include "storage/migrations/upgrade.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/support/log.h"
#include "storage/database/database.h"
#include "storage/migrations/migrations.h"

namespace kerf::inline storage::inline migrations {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uintmax_t spareBytes = 16u << 20;  // for indexes and the log of the copy
constexpr int attempts = 200;                     // of 25 ms

/// One process upgrades a store; the others wait. The file is gone afterwards.
class UpgradeLock {
 public:
  explicit UpgradeLock(const fs::path& store) : m_path(store.string() + ".upgrading") {
    for (;;) {
      m_file = ::open(m_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
      if (m_file < 0 || (::flock(m_file, LOCK_EX) == 0 && isStillThere())) return;
      ::close(m_file);  // its last owner has removed it meanwhile
    }
  }
  ~UpgradeLock() {
    if (m_file < 0) return;
    ::unlink(m_path.c_str());
    ::close(m_file);
  }
  UpgradeLock(const UpgradeLock&) = delete;
  UpgradeLock& operator=(const UpgradeLock&) = delete;
  bool held() const { return m_file >= 0; }

 private:
  bool isStillThere() const {
    struct stat mine{}, there{};
    return ::fstat(m_file, &mine) == 0 && ::stat(m_path.c_str(), &there) == 0 && mine.st_ino == there.st_ino;
  }
  std::string m_path;
  int m_file = -1;
};

/// A file that is removed unless it was moved away.
struct Draft {
  fs::path path;
  ~Draft() {
    std::error_code ignored;
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) fs::remove(path.string() + suffix, ignored);
  }
};

Result<void> checkRoom(const fs::path& path) {
  std::error_code ignored;
  std::uintmax_t needed = fs::file_size(path, ignored) + spareBytes;
  if (const auto log = fs::file_size(path.string() + "-wal", ignored); !ignored) needed += log;
  const auto space = fs::space(path.has_parent_path() ? path.parent_path() : fs::path("."), ignored);
  if (ignored || space.available >= needed) return {};
  return fail(
      Error{ErrorCode::Environment,
            fmt::format("the store is of an older schema, and bringing it to this Kerf's takes {} MB beside it, "
                        "of which {} are free; nothing was changed",
                        needed >> 20, space.available >> 20),
            path.string()});
}

/// Nobody else may have the store open, and nobody may open it, until `database` is closed.
Result<void> takeAlone(Database& database) {
  Result<void> outcome;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    KERF_CHECK(database.execute("PRAGMA locking_mode = EXCLUSIVE"));
    outcome = database.query("PRAGMA journal_mode = DELETE", {}, [](const SqlRow&) {});
    if (outcome) outcome = database.execute("BEGIN EXCLUSIVE");
    if (outcome) return database.execute("COMMIT");
    if (outcome.error().code != ErrorCode::Environment) return outcome;
    std::this_thread::sleep_for(25ms);
  }
  return fail(Error{ErrorCode::Environment,
                    "the store is of an older schema, and cannot be brought to this Kerf's while another process has "
                    "it open; close that first (" +
                        outcome.error().message + ")",
                    database.path().string()});
}

Result<void> linkBackup(const fs::path& path, int version) {
  const auto name = fmt::format("{}.v{}.bak", path.string(), version);
  for (int number = 1; number < 1000; ++number) {
    const auto target = number == 1 ? name : fmt::format("{}.{}", name, number);
    if (::link(path.c_str(), target.c_str()) == 0) {
      logAt(LogCategory::Store, LogLevel::Warning, "{}: brought to schema {}; the old store is {}", path.string(),
            newestSchema(), target);
      return {};
    }
    if (errno == EEXIST) continue;
    std::error_code problem;  // no links here: a copy
    fs::copy_file(path, target, problem);
    if (!problem) return {};
    return fail(ErrorCode::Environment, "cannot write the backup {}: {}", target, problem.message());
  }
  return fail(ErrorCode::Environment, "there are too many backups named {}", name);
}

Result<void> makeCopy(Database& database, const fs::path& target) {
  const auto name = target.string();
  KERF_CHECK(database.execute("VACUUM INTO ?", {std::string_view(name)}));
  KERF_TRY(auto copy, Database::open(target));
  return migrate(copy);
}

Result<void> replaceBy(const fs::path& draft, const fs::path& path) {
  if (::rename(draft.c_str(), path.c_str()) == 0) return {};
  return fail(ErrorCode::Environment, "cannot replace the store {}: {}", path.string(), std::strerror(errno));
}

}  // namespace

Result<void> upgrade(const fs::path& path) {
  const UpgradeLock lock(path);
  if (!lock.held())
    return fail(ErrorCode::Environment, "cannot lock the store {} for bringing it to this Kerf's schema: {}",
                path.string(), std::strerror(errno));
  KERF_TRY(auto database, Database::open(path));
  KERF_TRY(const auto version, schemaOf(database));
  if (version == 0 || version >= newestSchema()) return {};
  KERF_CHECK(checkRoom(path));
  KERF_CHECK(takeAlone(database));
  const Draft draft{fmt::format("{}.{}.new.tmp", path.string(), ::getpid())};
  std::error_code ignored;
  fs::remove(draft.path, ignored);
  KERF_CHECK(makeCopy(database, draft.path));
  KERF_CHECK(linkBackup(path, version));
  return replaceBy(draft.path, path);
}

}  // namespace kerf::inline storage::inline migrations
