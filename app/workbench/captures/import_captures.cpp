// Captures into the store: read, named and written; and a log that is still growing.
#include <map>
#include <thread>

#include "app/workbench/captures/capture_source.h"
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/import_findings.h"
#include "engine/capture/trace/follower.h"

namespace kerf::workbench {

namespace {

using namespace std::chrono_literals;

constexpr auto followInterval = 200ms;

/// `isLent`: its files are gone with the source, so that nobody can link to them.
Result<ImportedCapture> storeOne(Store& store, Capture capture, const ImportRequest& request, bool isLent,
                                 const Job& job) {
  KERF_CHECK(parseGraphs(capture, request.parse, job));
  const auto what = "storing " + capture.path.string();
  const bool links = request.link && !isLent;
  const auto files = links ? KeptFiles::Linked : KeptFiles::Copied;
  KERF_TRY(const auto id, storeCapture(store, capture, [&](double done) { return job.progress(what, done); }, files));
  auto imported = importedCapture(capture, id);
  if (links)
    imported.notes.push_back(capture.kind == "repro"
                                 ? "a repro is copied all the same: its text and storages are kept as they are"
                                 : "the store only links to its files: they must stay where they are, unchanged");
  return imported;
}

/// What has been told of a capture that grows.
class Told {
 public:
  explicit Told(const Job& job) : m_job(job) {}

  void update(const Capture& capture) {
    for (; m_graphs < capture.graphs.size(); ++m_graphs) tellGraph(capture.graphs[m_graphs]);
    if (!capture.details) return;
    const auto& records = capture.details->records;
    for (; m_records < records.size(); ++m_records) tellRecord(records[m_records]);
    for (const auto& compile : capture.details->compiles) tellCompile(compile);
  }

 private:
  static FollowEvent eventAt(FollowEvent::Kind kind, const std::string& name, const GraphOrigin& origin) {
    FollowEvent event;
    event.kind = kind;
    event.name = name;
    event.stage = origin.stage;
    event.compileId = origin.compileId;
    event.file = origin.file.string();
    event.line = origin.line;
    return event;
  }
  void tellGraph(const CapturedGraph& graph) const {
    m_job.tell(eventAt(FollowEvent::Kind::Graph, graph.name, graph.origin));
  }
  void tellRecord(const CaptureRecord& record) const {
    if (record.graph >= 0) return;
    auto event = eventAt(FollowEvent::Kind::Record, record.name, record.origin);
    event.recordKind = record.kind;
    m_job.tell(event);
  }
  void tellCompile(const CompileEntry& compile) {
    const auto key = fmt::format("{} {}", compile.rank, compile.id);
    const auto known = m_statuses.find(key);
    if (known != m_statuses.end() && known->second == compile.status) return;
    m_statuses[key] = compile.status;
    FollowEvent event;
    event.kind = FollowEvent::Kind::Compile;
    event.compileId = compile.id;
    event.rank = compile.rank;
    event.status = compileStatusName(compile.status);
    event.failure = compile.failure;
    event.frame = compile.frame;
    m_job.tell(event);
  }

  const Job& m_job;
  std::size_t m_graphs = 0, m_records = 0;
  std::map<std::string, CompileEntry::Status> m_statuses;
};

}  // namespace

Result<Imported> perform(Workbench& bench, const ImportRequest& request, const Job& job) {
  KERF_TRY(auto* store, bench.store());
  std::error_code ignored;
  if (!std::filesystem::exists(request.path, ignored))
    return fail(ErrorCode::NotFound, "{} does not exist", request.path);
  KERF_TRY(auto sources, openAll(bench, request.path, job));
  if (job.stop.stop_requested())
    return fail(ErrorCode::Cancelled, "stopped while importing {}; nothing of it was stored", request.path);
  Imported imported{store->path().string(), {}};
  for (auto& source : sources) {
    bench.forget(source->text);  // a long list of paths must not keep each one's graphs
    KERF_TRY(auto capture, storeOne(*store, source->capture, request, source->keeps != nullptr, job));
    imported.captures.push_back(std::move(capture));
    source.reset();
  }
  return imported;
}

Result<Imported> perform(Workbench& bench, const FollowRequest& request, const Job& job) {
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(auto follower, TorchTraceFollower::open(request.path));
  Told told(job);
  while (!job.stop.stop_requested()) {
    KERF_TRY(const auto fresh, follower.poll());
    if (fresh > 0) told.update(follower.capture());
    if (fresh == 0) std::this_thread::sleep_for(followInterval);
  }
  KERF_CHECK(follower.finish());
  told.update(follower.capture());
  const auto capture = follower.snapshot();
  Imported imported{store->path().string(), {}};
  if (capture.graphs.empty() && (!capture.details || capture.details->records.empty())) return imported;
  KERF_TRY(const auto id, storeCapture(*store, capture));
  imported.captures.push_back(importedCapture(capture, id));
  return imported;
}

}  // namespace kerf::workbench
