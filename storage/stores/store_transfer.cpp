#include "storage/stores/store_transfer.h"

#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "engine/tensor/file_pieces.h"
#include "storage/database/database.h"
#include "storage/migrations/migrations.h"
#include "storage/stores/blobs.h"
#include "storage/stores/capture_files.h"
#include "storage/stores/capture_transfer.h"
#include "storage/stores/process_owner.h"

namespace kerf::inline storage::inline stores {

namespace {

namespace fs = std::filesystem;

/// The source under its name in the target, as long as this lives.
class Attachment {
 public:
  static Result<Attachment> make(Database& target, const Database& source) {
    KERF_CHECK(target.attach(source.path(), attachedName));
    return Attachment(target);
  }
  Attachment(Attachment&& other) noexcept : m_target(std::exchange(other.m_target, nullptr)) {}
  Attachment& operator=(Attachment&&) = delete;
  ~Attachment() {
    if (m_target != nullptr) (void)m_target->detach(attachedName);
  }

 private:
  explicit Attachment(Database& target) : m_target(&target) {}
  Database* m_target;
};

Result<std::vector<std::int64_t>> allCaptures(Database& source) {
  return queryAll<std::int64_t>(source, "SELECT id FROM captures WHERE deletion IS NULL ORDER BY id", {},
                                [](const SqlRow& row) { return row.integer(0); });
}

/// One capture in one transaction. A damaged one is left out, and said.
Result<void> transferOne(Database& source, Database& target, std::int64_t id, StoreTransfer& report) {
  auto attempt = report;
  const auto copied = target.transaction([&]() -> Result<void> {
    KERF_TRY(auto row, copyCapture(source, target, id, attempt));
    attempt.captures.push_back(std::move(row));
    return {};
  });
  if (copied) {
    report = std::move(attempt);
    return {};
  }
  if (copied.error().code != ErrorCode::BadInput) return copied;
  report.failed.push_back(fmt::format("c{}: {}", id, copied.error().message));
  return {};
}

Result<StoreTransfer> transfer(Database& source, Database& target, const std::vector<std::int64_t>& captures,
                               const StoreProgress& progress) {
  StoreTransfer report;
  KERF_TRY(const auto attachment, Attachment::make(target, source));
  double done = 0;
  for (const auto id : captures) {
    if (progress && !progress(done++ / double(captures.size())))
      return fail(ErrorCode::Cancelled, "stopped after {} of {} captures", report.captures.size(), captures.size());
    KERF_CHECK(transferOne(source, target, id, report));
  }
  return report;
}

Result<void> copyLink(Database& target, const LinkedFile& link) {
  KERF_TRY(const auto sum, checkLinkedFile(target, link));
  return target.transaction([&]() -> Result<void> {
    KERF_CHECK(putFile(target, {link.source}, sum));
    const auto hash = sum.hex();
    return target.execute("UPDATE capture_files SET blob = ?, hash = ? WHERE capture = ? AND name = ?",
                          {std::string_view(hash), std::string_view(hash), link.capture, std::string_view(link.name)});
  });
}

/// Files that the source only links to become copies.
Result<void> copyLinks(Database& target, StoreTransfer& report) {
  KERF_TRY(const auto links, linkedFiles(target));
  for (const auto& link : links) {
    const auto copied = copyLink(target, link);
    if (!copied) report.notes.push_back(fmt::format("{} stays a link: {}", link.source, copied.error().message));
  }
  return {};
}

/// The file that an export is written to until it is whole.
class Draft {
 public:
  explicit Draft(const fs::path& target)
      : m_target(target), m_path(fmt::format("{}.{}.new.tmp", target.string(), ::getpid())) {
    remove();
    removeDeadDrafts(target);
  }
  ~Draft() { remove(); }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  const fs::path& path() const { return m_path; }
  Result<void> finish() const {
    if (::rename(m_path.c_str(), m_target.c_str()) == 0) return {};
    return fail(
        Error{ErrorCode::Environment, fmt::format("cannot write: {}", std::strerror(errno)), m_target.string()});
  }

 private:
  void remove() const {
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(m_path.string() + suffix, ignored);
  }
  fs::path m_target, m_path;
};

Result<StoreTransfer> fillDraft(Database& source, const fs::path& path, const std::vector<std::int64_t>& captures,
                                bool all, const StoreProgress& progress) {
  KERF_TRY(auto draft, Store::open(path));
  auto& target = draft.database();
  KERF_TRY(auto report, transfer(source, target, captures, progress));
  if (all) {
    KERF_TRY(const auto attachment, Attachment::make(target, source));
    KERF_CHECK(target.execute("INSERT OR IGNORE INTO main.verdicts(key, json) SELECT key, json FROM other.verdicts"));
  }
  KERF_CHECK(copyLinks(target, report));
  KERF_CHECK(target.query("PRAGMA journal_mode = DELETE", {}, [](const SqlRow&) {}));  // one file, nothing beside it
  return report;
}

}  // namespace

Result<StoreTransfer> exportStore(Store& store, const fs::path& file, const std::vector<std::int64_t>& captures,
                                  const StoreProgress& progress) {
  auto& source = store.database();
  std::error_code ignored;
  if (fs::equivalent(file, store.path(), ignored))
    return fail(ErrorCode::BadUsage, "{} is the store itself; name another file", file.string());
  if (fs::is_directory(file, ignored)) return fail(ErrorCode::BadUsage, "{} is a folder; name a file", file.string());
  for (const auto id : captures) KERF_CHECK(store.capture(id));
  KERF_TRY(const auto chosen, captures.empty() ? allCaptures(source) : Result<std::vector<std::int64_t>>(captures));
  const Draft draft(file);
  KERF_TRY(auto report, fillDraft(source, draft.path(), chosen, captures.empty(), progress));
  KERF_CHECK(draft.finish());
  return report;
}

Result<StoreTransfer> importStore(Store& store, const fs::path& file, const StoreProgress& progress) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return fail(ErrorCode::NotFound, "{} does not exist", file.string());
  if (fs::equivalent(file, store.path(), ignored))
    return fail(ErrorCode::BadUsage, "{} is the store itself", file.string());
  KERF_CHECK(checkStoreHeader(file));
  KERF_TRY(auto source, Database::open(file, Database::Access::Read));
  KERF_TRY(const int schema, schemaOf(source));
  if (schema != newestSchema())
    return fail(Error{ErrorCode::BadInput, fmt::format("this store has schema {}, not {}", schema, newestSchema()),
                      file.string()}
                    .advise(Advice::UpdateStore, file.string()));
  KERF_TRY(const auto captures, allCaptures(source));
  return transfer(source, store.database(), captures, progress);
}

}  // namespace kerf::inline storage::inline stores
