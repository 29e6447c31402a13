// The cases of `kerf bench` and `kerf bench --ops` under Google Benchmark, for its statistics and comparison tools.
#include <benchmark/benchmark.h>

#include "app/bench/cases.h"
#include "app/bench/ops.h"
#include "engine/support/recordings.h"

namespace {

void runCase(benchmark::State& state, const kerf::bench::BenchCase& bench) {
  const auto input = bench.input.empty() ? std::filesystem::path() : kerf::recordingsFolder() / bench.input;
  std::error_code ignored;
  if (!input.empty() && !std::filesystem::exists(input, ignored)) {
    state.SkipWithError("the recorded input is not here; set KERF_CORPUS");
    return;
  }
  const auto work = bench.prepare(input);
  if (!work) {
    state.SkipWithError(work.error().text().c_str());
    return;
  }
  for (auto _ : state) {
    if (const auto done = (*work)(); !done) {
      state.SkipWithError(done.error().text().c_str());
      break;
    }
  }
  if (bench.targetMilliseconds > 0) state.counters["target_ms"] = bench.targetMilliseconds;
}

/// One op of the table, with what it moves and computes per second.
void runOp(benchmark::State& state, const kerf::bench::OpBenchCase& bench) {
  const auto work = bench.prepare(bench);
  for (auto _ : state) {
    if (const auto done = work ? (*work)() : std::unexpected(work.error()); !done) {
      state.SkipWithError(done.error().text().c_str());
      break;
    }
  }
  using benchmark::Counter;
  state.counters["bytes/s"] = Counter(bench.bytes, Counter::kIsIterationInvariantRate, Counter::kIs1024);
  if (bench.operations > 0) state.counters["FLOP/s"] = Counter(bench.operations, Counter::kIsIterationInvariantRate);
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& bench : kerf::bench::benchCases())
    benchmark::RegisterBenchmark(bench.name.c_str(), [&bench](benchmark::State& state) { runCase(state, bench); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  for (const auto& bench : kerf::bench::opBenchCases())
    benchmark::RegisterBenchmark(("op/" + bench.family + "/" + bench.name).c_str(),
                                 [&bench](benchmark::State& state) { runOp(state, bench); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
