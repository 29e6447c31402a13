#include "app/bench/compiled.h"

#include <algorithm>
#include <ctime>
#include <map>

#include "app/bench/compiled_kernels.h"
#include "engine/capture/common/capture.h"
#include "engine/capture/common/generated_inputs.h"
#include "engine/capture/text/capture.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/support/parallel_copy.h"
#include "engine/support/thread_pool.h"

namespace kerf::bench {
namespace {

struct Loaded {
  GraphModule module;
  ValueList inputs;
};

/// Milliseconds of the clock that tells most: what other programs take does not count where one thread works.
double now() {
  std::timespec time{};
  ::clock_gettime(threadCount() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
}

Result<Loaded> loaded(CapturedGraph graph) {
  KERF_CHECK(graph.ensureLoaded());
  KERF_CHECK(graph.annotateShapes());
  KERF_TRY(ValueList inputs, graph.loadInputs(false, nullptr));
  return Loaded{std::move(graph.module), std::move(inputs)};
}

Result<Loaded> loadKernel(std::string_view text) {
  KERF_TRY(CapturedGraph graph, capturedFromReadable(text, {}));
  return loaded(std::move(graph));
}

/// "PATH" (its first graph) or "PATH#NAME".
Result<Loaded> loadGraph(const std::string& address) {
  const auto hash = address.rfind('#');
  KERF_TRY(Capture capture, importCapture(address.substr(0, hash)));
  for (CapturedGraph& graph : capture.graphs)
    if (hash == std::string::npos || graph.name == address.substr(hash + 1)) return loaded(std::move(graph));
  return fail(ErrorCode::NotFound, "{} holds no such graph", address);
}

std::int64_t bytesOf(const Value& value) {
  if (value.isTensor()) return value.tensor().numel() * itemSize(value.tensor().dtype());
  std::int64_t bytes = 0;
  if (value.isList())
    for (const Value& item : value.list()) bytes += bytesOf(item);
  return bytes;
}

/// The same compiled code and inputs, again and again.
class Measurement {
 public:
  Measurement(const Loaded& graph, CompiledGraph& compiled) : m_graph(graph), m_compiled(compiled) {}

  /// Both sides by turns; the first turn is not counted.
  Result<void> run(int repeats, std::stop_token stop, CompiledTime& row) {
    row.compiledMs = row.interpretedMs = 1e300;
    for (int i = 0; i <= repeats; ++i) {
      if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "interrupted");
      const double start = now();
      KERF_TRY(const Value result, m_compiled.run(m_graph.inputs));
      const double middle = now();
      KERF_CHECK(Interpreter(m_graph.module, referenceOps()).run(m_graph.inputs));
      if (i == 0) {
        m_bytes = bytesOf(result) + bytesOf(Value(m_graph.inputs));
        continue;
      }
      row.compiledMs = std::min(row.compiledMs, middle - start);
      row.interpretedMs = std::min(row.interpretedMs, now() - middle);
    }
    return {};
  }

  /// What a copy of half of the bytes takes, which reads that half and writes as much, by as many threads.
  Result<double> copy(int repeats) const {
    const std::int64_t bytes = m_bytes / 2;
    KERF_TRY(const StoragePtr from, Storage::allocate(bytes));
    KERF_TRY(const StoragePtr to, Storage::allocate(bytes));
    parallelCopy(from->data(), to->data(), std::size_t(bytes));
    double best = 1e300;
    for (int i = 0; i < repeats; ++i) {
      const double start = now();
      parallelCopy(to->data(), from->data(), std::size_t(bytes));
      best = std::min(best, now() - start);
    }
    return best;
  }

  /// Fastest time of every kernel.
  Result<std::vector<StepTime>> profile(int repeats) {
    std::map<std::string, std::chrono::nanoseconds> best;
    for (int i = 0; i < repeats; ++i) {
      std::vector<StepTime> times;
      m_compiled.timeSteps(&times);
      const auto done = m_compiled.run(m_graph.inputs);
      m_compiled.timeSteps(nullptr);
      KERF_CHECK(done);
      for (const StepTime& step : times) {
        const auto [found, isNew] = best.emplace(step.name, step.time);
        if (!isNew) found->second = std::min(found->second, step.time);
      }
    }
    std::vector<StepTime> result;
    for (const auto& [name, time] : best) result.push_back({name, time});
    std::ranges::sort(result, std::ranges::greater{}, &StepTime::time);
    return result;
  }

 private:
  const Loaded& m_graph;
  CompiledGraph& m_compiled;
  std::int64_t m_bytes = 0;
};

Result<void> measure(const Result<Loaded>& graph, bool isKernel, const CompiledBenchOptions& options,
                     std::stop_token stop, CompiledTime& row) {
  KERF_CHECK(graph);
  const double start = now();
  KERF_TRY(const auto compiled, compileFx(graph->module, {.keepArtifacts = false}));
  row.compileMs = now() - start;
  Measurement measurement(*graph, *compiled);
  KERF_CHECK(measurement.run(options.repeats, stop, row));
  if (isKernel) {
    KERF_TRY(row.copyMs, measurement.copy(options.repeats));
  }
  if (!options.profile) return {};
  KERF_TRY(row.kernels, measurement.profile(options.repeats));
  return {};
}

}  // namespace

Result<std::vector<CompiledTime>> benchCompiled(const CompiledBenchOptions& options, std::stop_token stop) {
  std::vector<CompiledTime> rows;
  const auto add = [&](std::string_view name, bool isKernel, const auto& load) {
    if (name.find(options.filter) == std::string_view::npos || stop.stop_requested()) return;
    CompiledTime row;
    row.name = name;
    if (const auto done = measure(load(), isKernel, options, stop, row); !done) row.skipped = done.error().text();
    rows.push_back(std::move(row));
  };
  if (options.graphs.empty())
    for (const KernelBenchCase& entry : kernelBenchCases())
      add(entry.name, true, [&] { return loadKernel(entry.text); });
  for (const std::string& graph : options.graphs) add(graph, false, [&] { return loadGraph(graph); });
  if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "interrupted");
  if (rows.empty()) return fail(ErrorCode::NotFound, "nothing to measure has {} in its name", options.filter);
  return rows;
}

}  // namespace kerf::bench
