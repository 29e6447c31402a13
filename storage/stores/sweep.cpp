// Purging, collecting what nothing needs, and shrinking.
#include <chrono>

#include <fmt/chrono.h>

#include "storage/database/database.h"
#include "storage/stores/deletions.h"
#include "storage/stores/process_owner.h"
#include "storage/stores/store_care.h"

namespace kerf::inline storage::inline stores {

namespace {

namespace fs = std::filesystem;

constexpr int batchRows = 64;  // of one transaction

/// What nothing needs any more: rows of `table` outside of all `uses`.
struct Garbage {
  std::string_view table, uses;
  std::int64_t StoreSweep::* count;
  std::string_view sizes;  ///< a column of bytes; empty: none
};
constexpr Garbage garbage[] = {
    {"contents",
     "'' UNION SELECT content FROM graphs UNION SELECT content FROM steps UNION SELECT content FROM slips UNION SELECT "
     "content FROM repros",
     &StoreSweep::contents,
     {}},
    {"blobs", "blob FROM content_blobs UNION SELECT blob FROM capture_files WHERE blob IS NOT NULL", &StoreSweep::blobs,
     "size"},
    {"snapshots", "hash_before FROM passes UNION SELECT hash_after FROM passes", &StoreSweep::snapshots, {}},
};

class Sweeper {
 public:
  Sweeper(Store& store, const StoreProgress& progress)
      : m_database(store.database()), m_path(store.path()), m_progress(progress) {}

  Result<StoreSweep> run(const std::string& moment) {
    KERF_TRY(m_sweep.purged, purgeDeleted(m_database, moment));
    KERF_CHECK(endDeadReductions());
    double part = 0;
    for (const auto& kind : garbage) {
      KERF_CHECK(collect(kind, part));
      part += 1.0 / std::size(garbage);
    }
    m_sweep.files = removeDeadDrafts(m_path);
    return m_sweep;
  }

 private:
  Result<void> goOn(double done) const {
    if (!m_progress || m_progress(done)) return {};
    return fail(ErrorCode::Cancelled, "stopped; what was collected so far stays collected");
  }

  Result<void> collect(const Garbage& kind, double done) {
    const auto where = fmt::format("FROM {} WHERE hash NOT IN (SELECT {})", kind.table, kind.uses);
    KERF_TRY(const auto total, m_database.queryInteger(fmt::format("SELECT count(*) {}", where)));
    const double all = double(std::max<std::int64_t>(1, total.value_or(0)));
    for (std::int64_t removed = batchRows, before = 0; removed == batchRows; before += removed) {
      KERF_CHECK(goOn(done + double(before) / all / std::size(garbage)));
      KERF_TRY(removed, collectSome(kind, where));
    }
    return {};
  }

  /// The rows are looked for again in each transaction: another process may need one by now.
  Result<std::int64_t> collectSome(const Garbage& kind, const std::string& where) {
    std::int64_t removed = 0;
    KERF_CHECK(m_database.transaction([&]() -> Result<void> {
      const auto size = kind.sizes.empty() ? std::string("0") : std::string(kind.sizes);
      std::vector<std::string> hashes;
      std::int64_t bytes = 0;
      KERF_CHECK(m_database.query(fmt::format("SELECT hash, {} {} LIMIT {}", size, where, batchRows), {},
                                  [&](const SqlRow& row) {
                                    hashes.push_back(row.text(0));
                                    bytes += row.integer(1);
                                  }));
      for (const auto& hash : hashes)
        KERF_CHECK(
            m_database.execute(fmt::format("DELETE FROM {} WHERE hash = ?", kind.table), {std::string_view(hash)}));
      removed = std::ssize(hashes);
      m_sweep.*kind.count += removed;
      m_sweep.bytes += bytes;
      return {};
    }));
    return removed;
  }

  Result<void> endDeadReductions() {
    std::vector<std::int64_t> dead;
    const auto self = thisProcess();
    KERF_CHECK(
        m_database.query("SELECT id, owner FROM reductions WHERE status = 'running'", {}, [&](const SqlRow& row) {
          if (row.text(1) != self && !isOtherLiveProcess(row.text(1))) dead.push_back(row.integer(0));
        }));
    for (const auto id : dead)
      KERF_CHECK(
          m_database.execute("UPDATE reductions SET status = 'interrupted' WHERE id = ? AND status = 'running'", {id}));
    m_sweep.reductions = std::ssize(dead);
    return {};
  }

  Database& m_database;
  fs::path m_path;
  const StoreProgress& m_progress;
  StoreSweep m_sweep;
};

Result<void> checkRoom(const fs::path& path) {
  std::error_code ignored;
  const auto needed = fs::file_size(path, ignored);
  const auto space = fs::space(path.has_parent_path() ? path.parent_path() : fs::path("."), ignored);
  if (ignored || space.available >= needed) return {};
  return fail(ErrorCode::Environment, "shrinking the store {} may take {} MB beside it, of which {} are free",
              path.string(), needed >> 20, space.available >> 20);
}

std::int64_t bytesOf(const fs::path& path) {
  std::error_code missing;
  const auto size = fs::file_size(path, missing);
  return missing ? 0 : std::int64_t(size);
}

}  // namespace

Result<StoreSweep> sweepStore(Store& store, const std::string& moment, const StoreProgress& progress) {
  return Sweeper(store, progress).run(moment);
}

Result<std::int64_t> shrinkStore(Store& store, const StoreProgress& progress) {
  auto& database = store.database();
  KERF_CHECK(checkRoom(store.path()));
  const auto checkpoint = [&] { return database.query("PRAGMA wal_checkpoint(TRUNCATE)", {}, [](const SqlRow&) {}); };
  KERF_CHECK(checkpoint());
  const auto before = bytesOf(store.path());
  if (progress) database.setWatch([&] { return progress(0); });
  const auto shrunk = database.execute("VACUUM");
  database.setWatch({});
  KERF_CHECK(shrunk);
  KERF_CHECK(checkpoint());
  return before - bytesOf(store.path());
}

std::string momentBefore(std::int64_t seconds) {
  const auto moment = std::chrono::system_clock::now() - std::chrono::seconds(seconds);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(moment)));
}

}  // namespace kerf::inline storage::inline stores
