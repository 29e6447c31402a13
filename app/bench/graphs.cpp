#include "app/bench/graphs.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "engine/capture/common/capture.h"
#include "engine/capture/common/recorded_shapes.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/dtype_module.h"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct GraphFile {
  fs::path path;
  std::string name;
};

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<GraphFile> filesOf(const GraphBenchOptions& options) {
  std::vector<GraphFile> files;
  for (const std::string& given : options.paths) {
    std::error_code ignored;
    if (!fs::is_directory(given, ignored)) {
      files.push_back({given, given});
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(given, ignored))
      if (entry.is_regular_file(ignored) && entry.path().extension() == ".py")
        files.push_back({entry.path(), fs::relative(entry.path(), given, ignored).string()});
  }
  std::erase_if(files, [&](const GraphFile& file) { return file.name.find(options.filter) == std::string::npos; });
  std::ranges::sort(files, {}, &GraphFile::name);
  return files;
}

Result<CastGraph> loadGraph(const fs::path& path, const std::string& precision) {
  KERF_TRY(Capture capture, importCapture(path));
  if (capture.graphs.empty()) return fail(ErrorCode::BadInput, "{} holds no graph", path.string());
  CapturedGraph& graph = capture.graphs.front();
  KERF_CHECK(graph.ensureLoaded());
  KERF_CHECK(annotateRecorded(graph));
  KERF_TRY(ValueList inputs, graph.loadInputs(false, nullptr));
  if (precision == "f64") return castGraph(graph.module, inputs, DType::Float64);
  return CastGraph{std::move(graph.module), std::move(inputs)};
}

/// One run whose nodes are timed one by one.
Result<std::vector<OpTime>> profileOf(const CastGraph& graph) {
  std::map<std::string, OpTime> byTarget;
  Interpreter interpreter(graph.module, referenceOps());
  Clock::time_point last = Clock::now();
  interpreter.onNode = [&](const Node& node, const Value&) {
    OpTime& entry = byTarget[node.target()];
    entry.target = node.target();
    entry.milliseconds += millisecondsSince(last);
    ++entry.calls;
    last = Clock::now();
  };
  KERF_CHECK(interpreter.run(graph.inputs));
  std::vector<OpTime> ops;
  for (auto& [target, entry] : byTarget) ops.push_back(std::move(entry));
  std::ranges::sort(ops, std::ranges::greater{}, &OpTime::milliseconds);
  return ops;
}

/// The first run warms up and tells how many more are worth it: about a second per graph, at least two.
Result<void> measureGraph(const CastGraph& graph, const GraphBenchOptions& options, std::stop_token stop,
                          GraphTime& row) {
  const auto start = Clock::now();
  KERF_CHECK(Interpreter(graph.module, referenceOps()).run(graph.inputs, stop));
  const double first = millisecondsSince(start);
  const int runs = std::clamp(int(1000 / std::max(first, 0.01)), 2, 20 * options.repeats);
  std::vector<double> times;
  for (int i = 0; i < std::max(options.repeats, runs) && (i < runs || first < 1000); ++i) {
    const auto begin = Clock::now();
    KERF_CHECK(Interpreter(graph.module, referenceOps()).run(graph.inputs, stop));
    times.push_back(millisecondsSince(begin));
  }
  std::ranges::sort(times);
  row.milliseconds = times[times.size() / 2];
  row.fastest = times.front();
  if (!options.profile) return {};
  KERF_TRY(row.ops, profileOf(graph));
  return {};
}

}  // namespace

Result<std::vector<GraphTime>> benchGraphs(const GraphBenchOptions& options, std::stop_token stop) {
  std::vector<GraphTime> rows;
  for (const GraphFile& file : filesOf(options)) {
    for (const std::string& precision : options.precisions) {
      if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "interrupted");
      GraphTime row{file.name, precision, 0, 0, {}, {}};
      auto graph = loadGraph(file.path, precision);
      const auto done = graph ? measureGraph(*graph, options, stop, row) : Result<void>();
      if (!graph)
        row.skipped = graph.error().text();
      else if (!done)
        row.skipped = done.error().text();
      rows.push_back(std::move(row));
    }
  }
  if (rows.empty()) return fail(ErrorCode::NotFound, "no graph to measure: give .py files or folders that hold some");
  return rows;
}

}  // namespace kerf::bench
