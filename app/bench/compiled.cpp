#include "app/bench/compiled.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>

#include "app/bench/compiled_kernels.h"
#include "app/bench/memory_kernels.h"
#include "app/bench/stream_copy.h"
#include "engine/backend/cuda/device_rates.h"
#include "engine/capture/common/capture.h"
#include "engine/capture/common/recorded_shapes.h"
#include "engine/capture/inputs/generated_inputs.h"
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
  KERF_CHECK(annotateRecorded(graph));
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

/// What a row is of, which decides what stands beside it: the interpreter and a copy, a copy, or the interpreter.
enum class BenchKind { Kernel, Memory, Graph };

/// The same compiled code and inputs, again and again.
class Measurement {
 public:
  Measurement(const Loaded& graph, CompiledGraph& compiled) : m_graph(graph), m_compiled(compiled) {}

  /// All sides by turns; the first turn is not counted.
  Result<void> run(int repeats, BenchKind kind, std::stop_token stop, CompiledTime& row) {
    double interpreted = 1e300;
    CopyTimes copied;
    row.compiledMs = 1e300;
    KERF_CHECK(makeCopy(kind));
    for (int i = 0; i <= repeats; ++i) {
      if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "interrupted");
      KERF_TRY(const double compiled, timed([&] { return m_compiled.run(m_graph.inputs); }));
      if (kind != BenchKind::Memory) {
        Interpreter interpreter(m_graph.module, referenceOps());
        KERF_TRY(const double once, timed([&] { return interpreter.run(m_graph.inputs); }));
        if (i > 0) interpreted = std::min(interpreted, once);
      }
      if (kind != BenchKind::Graph && i > 0) timeCopies(copied);
      if (i > 0) row.compiledMs = std::min(row.compiledMs, compiled);
    }
    row.bytes = m_bytes;
    row.interpretedMs = kind == BenchKind::Memory ? 0 : interpreted;
    if (kind == BenchKind::Graph) return {};
    row.copyMs = std::min(copied.plain, copied.streamed);
    row.memcpyMs = copied.plain;
    return {};
  }

  /// On a device that has the inputs already, beside its copies: the second run is captured, the third runs as it was.
  Result<void> runOnDevice(int repeats, BenchKind kind, std::stop_token stop, CompiledTime& row) {
    constexpr int runsBefore = 3, runsAtOnce = 20;
    Value result;
    for (int i = 0; i < runsBefore; ++i) {
      KERF_TRY(result, m_compiled.run(m_graph.inputs, stop));
    }
    row.compiledMs = 1e300;
    for (int i = 0; i < repeats; ++i) {
      if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "interrupted");
      KERF_TRY(const auto time, m_compiled.timeOnDevice(runsAtOnce));
      row.compiledMs = std::min(row.compiledMs, std::chrono::duration<double, std::milli>(time).count());
    }
    if (kind == BenchKind::Graph) return {};
    row.bytes = bytesOf(result) + bytesOf(Value(m_graph.inputs));
    static const Result<DeviceRates> rates = measuredDeviceRates();
    KERF_CHECK(rates);
    row.copyMs = 1e3 * double(row.bytes) / rates->copy;
    return {};
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
  /// Milliseconds of a copy by memcpy, and of one past the caches that asks for what it reads.
  struct CopyTimes {
    double plain = 1e300, streamed = 1e300;
  };

  static Result<double> timed(const auto& work) {
    const double start = now();
    KERF_CHECK(work());
    return now() - start;
  }

  /// Room for a copy of half of the bytes, which reads that half and writes as much, by as many threads.
  Result<void> makeCopy(BenchKind kind) {
    if (kind == BenchKind::Graph) return {};
    KERF_TRY(const Value result, m_compiled.run(m_graph.inputs));
    m_bytes = bytesOf(result) + bytesOf(Value(m_graph.inputs));
    KERF_TRY(m_from, Storage::allocate(m_bytes / 2));
    KERF_TRY(m_to, Storage::allocate(m_bytes / 2));
    // what was never written is one page of zeros
    std::memset(m_from->data(), 1, std::size_t(m_bytes / 2));
    return {};
  }

  void timeCopies(CopyTimes& fastest) const {
    const double start = now();
    parallelCopy(m_to->data(), m_from->data(), std::size_t(m_bytes / 2));
    const double middle = now();
    streamCopy(m_to->data(), m_from->data(), m_bytes / 2);
    fastest.plain = std::min(fastest.plain, middle - start);
    fastest.streamed = std::min(fastest.streamed, now() - middle);
  }

  const Loaded& m_graph;
  CompiledGraph& m_compiled;
  std::int64_t m_bytes = 0;
  StoragePtr m_from, m_to;
};

struct BenchSetting {
  BenchKind kind = BenchKind::Kernel;
  bool roundsEachOp = true;
};

Result<void> measure(const Result<Loaded>& graph, BenchSetting setting, const CompiledBenchOptions& options,
                     std::stop_token stop, CompiledTime& row) {
  KERF_CHECK(graph);
  const double start = now();
  KERF_TRY(const auto compiled,
           compileFx(graph->module,
                     {.backend = options.backend, .keepArtifacts = false, .roundsEachOp = setting.roundsEachOp}));
  row.compileMs = now() - start;
  Measurement measurement(*graph, *compiled);
  KERF_CHECK(options.backend == "cuda" ? measurement.runOnDevice(options.repeats, setting.kind, stop, row)
                                       : measurement.run(options.repeats, setting.kind, stop, row));
  if (!options.profile) return {};
  KERF_TRY(row.kernels, measurement.profile(options.repeats));
  return {};
}

}  // namespace

Result<std::vector<CompiledTime>> benchCompiled(const CompiledBenchOptions& options, std::stop_token stop) {
  std::vector<CompiledTime> rows;
  const auto add = [&](std::string_view name, BenchSetting setting, const auto& load) {
    if (name.find(options.filter) == std::string_view::npos || stop.stop_requested()) return;
    CompiledTime row;
    row.name = name;
    if (const auto done = measure(load(), setting, options, stop, row); !done) row.skipped = done.error().text();
    rows.push_back(std::move(row));
  };
  const auto addAll = [&](const std::vector<KernelBenchCase>& cases, BenchKind kind) {
    for (const KernelBenchCase& entry : cases)
      add(entry.name, {kind, entry.roundsEachOp}, [&] { return loadKernel(entry.text); });
  };
  if (options.graphs.empty()) addAll(kernelBenchCases(), BenchKind::Kernel);
  if (options.graphs.empty()) addAll(memoryBenchCases(), BenchKind::Memory);
  for (const std::string& graph : options.graphs) add(graph, {BenchKind::Graph}, [&] { return loadGraph(graph); });
  if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "interrupted");
  if (rows.empty()) return fail(ErrorCode::NotFound, "nothing to measure has {} in its name", options.filter);
  return rows;
}

}  // namespace kerf::bench
