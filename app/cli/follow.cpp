#include "app/cli/follow.h"

#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "app/cli/graph_source.h"
#include "app/cli/import_report.h"
#include "app/cli/json_values.h"
#include "app/cli/progress.h"
#include "app/cli/text_table.h"
#include "engine/capture/trace/follower.h"

namespace kerf::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto interval = 200ms;

/// What has been shown of a capture that grows.
class Shown {
 public:
  explicit Shown(const Context& context) : m_context(context) {}

  void update(const Capture& capture) {
    for (; m_graphs < capture.graphs.size(); ++m_graphs) showGraph(capture.graphs[m_graphs]);
    if (!capture.details) return;
    const auto& records = capture.details->records;
    for (; m_records < records.size(); ++m_records) showRecord(records[m_records]);
    for (const auto& compile : capture.details->compiles) showCompile(compile);
  }

 private:
  void line(const Json& object, const std::string& text) const {
    if (m_context.json)
      fmt::print("{}\n", object.dump(-1, ' ', false, Json::error_handler_t::replace));
    else if (!text.empty())
      fmt::print("{}\n", text);
    std::fflush(stdout);
  }
  void showGraph(const CapturedGraph& graph) const {
    const auto& origin = graph.origin;
    line({{"event", "graph"},
          {"name", graph.name},
          {"stage", orNull(origin.stage)},
          {"compile_id", orNull(origin.compileId)},
          {"file", origin.file.string()},
          {"line", origin.line}},
         fmt::format("graph    {}  {}:{}", graph.name, origin.file.filename().string(), origin.line));
  }
  void showRecord(const CaptureRecord& record) const {
    if (record.graph >= 0) return;
    line({{"event", "record"},
          {"kind", record.kind},
          {"name", record.name},
          {"compile_id", orNull(record.origin.compileId)},
          {"file", record.origin.file.string()},
          {"line", record.origin.line}},
         m_context.verbose ? fmt::format("record   {} {}  {}", record.origin.compileId, record.kind, record.name)
                           : std::string());
  }
  void showCompile(const CompileEntry& compile) {
    const auto key = fmt::format("{} {}", compile.rank, compile.id);
    const auto known = m_statuses.find(key);
    if (known != m_statuses.end() && known->second == compile.status) return;
    m_statuses[key] = compile.status;
    const auto status = compileStatusName(compile.status);
    line({{"event", "compile"},
          {"compile_id", compile.id},
          {"rank", compile.rank < 0 ? Json() : Json(compile.rank)},
          {"status", status},
          {"failure", orNull(compile.failure)},
          {"frame", orNull(compile.frame)}},
         fmt::format("compile  {}  {}  {}{}", compile.id, status == "incomplete" ? "running" : status, compile.frame,
                     compile.failure.empty() ? "" : ": " + compile.failure));
  }

  const Context& m_context;
  std::size_t m_graphs = 0, m_records = 0;
  std::map<std::string, CompileEntry::Status> m_statuses;
};

Result<int> storeWhatCame(Context& context, const Capture& capture) {
  KERF_TRY(auto* store, context.store());
  if (capture.graphs.empty() && (!capture.details || capture.details->records.empty())) {
    if (!context.json) fmt::print("nothing came; nothing is stored\n");
    if (context.json) fmt::print("{}\n", Json({{"event", "done"}, {"captures", Json::array()}}).dump());
    return 0;
  }
  KERF_TRY(const auto id, storeCapture(*store, capture));
  const auto object = importedJson(capture, id);
  if (context.json) {
    const Json done{{"event", "done"}, {"store", store->path().string()}, {"captures", Json::array({object})}};
    fmt::print("{}\n", done.dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    printImported(object, context.verbose);
  }
  return 0;
}

}  // namespace

Result<int> followLog(Context& context, const std::string& path) {
  KERF_CHECK(context.store());
  const auto stop = context.stop();
  KERF_TRY(auto follower, TorchTraceFollower::open(path));
  if (!context.json) fmt::print(stderr, "following {}; Ctrl-C ends and stores it\n", path);
  Shown shown(context);
  while (!stop.stop_requested()) {
    KERF_TRY(const auto fresh, follower.poll());
    if (fresh > 0) shown.update(follower.capture());
    if (fresh == 0) std::this_thread::sleep_for(interval);
  }
  KERF_CHECK(follower.finish());
  shown.update(follower.capture());
  return storeWhatCame(context, follower.snapshot());
}

}  // namespace kerf::cli
