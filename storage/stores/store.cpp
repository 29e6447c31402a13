#include "storage/stores/store.h"

#include <cstdlib>

#include "engine/support/log.h"
#include "storage/database/database.h"
#include "storage/database/log_check.h"
#include "storage/migrations/migrations.h"
#include "storage/migrations/upgrade.h"
#include "storage/stores/capture_files.h"
#include "storage/stores/contents.h"
#include "storage/stores/store_tables.h"

namespace kerf::inline storage::inline stores {

namespace {

std::filesystem::path fromEnvironment(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? std::filesystem::path(value) : std::filesystem::path();
}

/// The database is closed first: nobody may have the file open while it is replaced.
Result<void> upgraded(const std::filesystem::path& path, Database database) {
  {
    const auto closed = std::move(database);
  }
  return upgrade(path);
}

/// What SQLite would drop without a word is said, and kept for who can make something of it.
void tellDamagedLog(const std::filesystem::path& path) {
  const auto damage = keepDamagedLog(path);
  if (!damage) return;
  logAt(LogCategory::Store, LogLevel::Warning,
        "{}: {}, by a power failure or a damaged disk; the changes behind that are lost, the store is as it was before "
        "them{}",
        path.string(), damage->text(),
        damage->kept.empty() ? std::string() : fmt::format(" (the log is kept as {})", damage->kept.string()));
}

}  // namespace

struct Store::Impl {
  Database database;
};

Store::Store(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& path) {
  auto opened = openWith(path, false);
  if (opened || opened.error().code != ErrorCode::Environment) return opened;
  // A full disk has no room for the files beside the store: what is in it can be read all the same, unless others
  // write.
  std::error_code ignored;
  const bool busy = opened.error().message.find("busy") != std::string::npos;
  if (busy || !std::filesystem::is_regular_file(path, ignored)) return opened;
  auto reading = openWith(path, true);
  return reading ? std::move(reading) : std::move(opened);
}

Result<Store> Store::openWith(const std::filesystem::path& path, bool untouched) {
  KERF_CHECK(checkStoreHeader(path));
  if (!untouched) tellDamagedLog(path);
  KERF_TRY(auto database, Database::open(path, untouched ? Database::Access::Untouched : Database::Access::Write));
  KERF_TRY(const int schema, schemaOf(database));
  const bool older = schema > 0 && schema < newestSchema();
  if (older && database.readOnly()) {
    KERF_TRY(database, Database::openCopy(path));
    KERF_CHECK(migrate(database));
    KERF_CHECK(database.execute("PRAGMA query_only = ON"));
  } else if (older) {
    KERF_CHECK(upgraded(path, std::move(database)));
    KERF_TRY(database, Database::open(path));
  } else if (schema == 0 && database.readOnly()) {
    return fail(ErrorCode::Environment, "{} is empty, and no store can be made there: it can only be read",
                path.string());
  }
  if (!database.readOnly()) KERF_CHECK(migrate(database));
  logAt(LogCategory::Store, LogLevel::Debug, "opened {}{}", path.string(), database.readOnly() ? " for reading" : "");
  return Store(std::make_unique<Impl>(Impl{std::move(database)}));
}

Result<Store> Store::inMemory() {
  KERF_TRY(auto database, Database::openMemory());
  KERF_CHECK(migrate(database));
  return Store(std::make_unique<Impl>(Impl{std::move(database)}));
}

bool Store::readOnly() const { return m_impl->database.readOnly(); }
Database& Store::database() { return m_impl->database; }

std::filesystem::path Store::defaultPath() {
  if (const auto named = fromEnvironment("KERF_STORE"); !named.empty()) return named;
  if (const auto data = fromEnvironment("XDG_DATA_HOME"); !data.empty()) return data / "kerf" / "kerf.db";
  return fromEnvironment("HOME") / ".local" / "share" / "kerf" / "kerf.db";
}

const std::filesystem::path& Store::path() const { return m_impl->database.path(); }

Result<std::int64_t> Store::addCapture(const NewCapture& capture, const StoreProgress& progress) {
  return stores::addCapture(m_impl->database, capture, progress);
}
Result<std::vector<CaptureRow>> Store::captures() { return stores::captures(m_impl->database); }
Result<CaptureRow> Store::capture(std::int64_t id) { return stores::capture(m_impl->database, id); }
Result<std::vector<GraphRow>> Store::graphs(std::optional<std::int64_t> captureId) {
  return stores::graphs(m_impl->database, captureId);
}
Result<GraphRow> Store::graph(std::int64_t captureId, int ordinal) {
  return stores::graph(m_impl->database, captureId, ordinal);
}
Result<GraphRow> Store::graphById(std::int64_t id) { return stores::graphById(m_impl->database, id); }
Result<std::filesystem::path> Store::materialize(std::int64_t graphId, const std::filesystem::path& directory) {
  KERF_TRY(const auto content, stores::graphContent(m_impl->database, graphId));
  if (!content.empty()) return stores::materializeContent(m_impl->database, content, directory);
  KERF_TRY(const auto row, stores::graphById(m_impl->database, graphId));
  return stores::materializeFiles(m_impl->database, row.captureId, directory);
}
Result<std::filesystem::path> Store::materializeFiles(std::int64_t captureId, const std::filesystem::path& directory) {
  return stores::materializeFiles(m_impl->database, captureId, directory);
}
Result<void> Store::completeGraph(std::int64_t graphId, const std::string& hash, int nodes) {
  return stores::completeGraph(m_impl->database, graphId, hash, nodes);
}
Result<std::vector<RecordRow>> Store::records(std::int64_t captureId) {
  return stores::records(m_impl->database, captureId);
}
Result<RecordRow> Store::record(std::int64_t captureId, int ordinal) {
  return stores::record(m_impl->database, captureId, ordinal);
}
Result<std::vector<CompileRow>> Store::compiles(std::int64_t captureId) {
  return stores::compiles(m_impl->database, captureId);
}

Result<void> Store::putSnapshot(const std::string& hash, const std::string& graphText, int nodes) {
  return stores::putSnapshot(m_impl->database, hash, graphText, nodes);
}
Result<std::string> Store::snapshotText(const std::string& hash) {
  return stores::snapshotText(m_impl->database, hash);
}

Result<std::int64_t> Store::addRun(const RunRow& run) { return stores::addRun(m_impl->database, run); }
Result<void> Store::finishRun(std::int64_t runId, const std::string& status, std::int64_t nanoseconds) {
  return stores::finishRun(m_impl->database, runId, status, nanoseconds);
}
Result<void> Store::addPasses(std::int64_t runId, const std::vector<SnapshotRow>& passes) {
  return stores::addPasses(m_impl->database, runId, passes);
}
Result<void> Store::addComparisons(std::int64_t runId, const std::vector<OutputVerdict>& rows) {
  return stores::addComparisons(m_impl->database, runId, rows);
}
Result<std::vector<RunRow>> Store::runs(std::optional<std::int64_t> graphId) {
  return stores::runs(m_impl->database, graphId);
}
Result<std::vector<SnapshotRow>> Store::passes(std::int64_t runId) { return stores::passes(m_impl->database, runId); }
Result<std::vector<OutputVerdict>> Store::comparisons(std::int64_t runId) {
  return stores::comparisons(m_impl->database, runId);
}

Result<std::int64_t> Store::startReduction(const ReductionRow& reduction) {
  return stores::startReduction(m_impl->database, reduction);
}
Result<void> Store::addStep(const StepRow& step, const NewGraph& candidate) {
  return stores::addStep(m_impl->database, step, candidate);
}
Result<void> Store::finishReduction(std::int64_t reductionId, const std::string& status, int bestNodes, int tests,
                                    const std::string& fingerprint) {
  return stores::finishReduction(m_impl->database, reductionId, status, bestNodes, tests, fingerprint);
}
Result<std::optional<ReductionRow>> Store::resumable(std::int64_t graphId, const std::string& oracle) {
  return stores::resumable(m_impl->database, graphId, oracle);
}
Result<std::vector<ReductionRow>> Store::reductions(std::optional<std::int64_t> graphId) {
  return stores::reductions(m_impl->database, graphId);
}
Result<ReductionRow> Store::reduction(std::int64_t id) { return stores::reduction(m_impl->database, id); }
Result<std::vector<StepRow>> Store::steps(std::int64_t reductionId) {
  return stores::steps(m_impl->database, reductionId);
}
Result<std::filesystem::path> Store::materializeStep(std::int64_t stepId, const std::filesystem::path& directory) {
  KERF_TRY(const auto content, stores::stepContent(m_impl->database, stepId));
  return stores::materializeContent(m_impl->database, content, directory);
}
Result<void> Store::putSlip(const SlipRow& slip, const NewGraph& candidate) {
  return stores::putSlip(m_impl->database, slip, candidate);
}
Result<std::vector<SlipRow>> Store::slips(std::int64_t reductionId) {
  return stores::slips(m_impl->database, reductionId);
}
Result<std::filesystem::path> Store::materializeSlip(std::int64_t slipId, const std::filesystem::path& directory) {
  KERF_TRY(const auto content, stores::slipContent(m_impl->database, slipId));
  return stores::materializeContent(m_impl->database, content, directory);
}
Result<std::optional<std::string>> Store::verdict(const std::string& key) {
  return stores::verdict(m_impl->database, key);
}
Result<void> Store::putVerdict(const std::string& key, const std::string& json) {
  return stores::putVerdict(m_impl->database, key, json);
}

Result<void> Store::putNote(const NoteRow& note) { return stores::putNote(m_impl->database, note); }
Result<void> Store::forgetNote(const std::string& graphHash, const std::string& node) {
  return stores::forgetNote(m_impl->database, graphHash, node);
}
Result<std::vector<NoteRow>> Store::notes(const std::string& graphHash) {
  return stores::notes(m_impl->database, graphHash);
}

Result<std::int64_t> Store::addRepro(const ReproRow& repro, const NewGraph& content) {
  return stores::addRepro(m_impl->database, repro, content);
}
Result<std::vector<ReproRow>> Store::repros() { return stores::repros(m_impl->database); }
Result<ReproRow> Store::repro(std::int64_t id) { return stores::repro(m_impl->database, id); }
Result<std::filesystem::path> Store::materializeRepro(std::int64_t reproId, const std::filesystem::path& directory) {
  KERF_TRY(const auto content, stores::reproContent(m_impl->database, reproId));
  return stores::materializeContent(m_impl->database, content, directory);
}

}  // namespace kerf::inline storage::inline stores
