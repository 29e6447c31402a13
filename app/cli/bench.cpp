#include "app/cli/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "app/bench/cases.h"
#include "app/bench/rank_bench.h"
#include "app/cli/interrupts.h"
#include "engine/support/recordings.h"

namespace kerf::cli {
namespace {

using namespace kerf::bench;

using Clock = std::chrono::steady_clock;

struct Options {
  std::string corpus;
  std::string filter;
  int repeats = 5;
  bool list = false;
  bool ops = false;
  bool compiled = false;
  bool products = false;
  bool cold = false;
  std::int64_t allReduceBytes = 0;
  int ranks = 2;
  std::string backend = "llvm";
  GraphBenchOptions graphs;
};

/// What became of one case; times in milliseconds.
struct Outcome {
  const BenchCase* bench;
  std::string skipped;  ///< why it was not measured
  std::vector<double> times;
  std::optional<double> besideMs;  ///< median of the other program on the same input

  bool measured() const { return !times.empty(); }
  double median() const { return times[times.size() / 2]; }
  /// Judged by the median: the fastest run hides a cold start, the slowest shows other programs. The program beside
  /// must not be faster either.
  bool over() const {
    const bool late = measured() && bench->targetMilliseconds > 0 && median() > bench->targetMilliseconds;
    return late || (besideMs && median() > *besideMs);
  }
  std::string verdict() const {
    if (!measured()) return "skipped";
    if (bench->targetMilliseconds == 0) return "-";
    return over() ? "over" : "ok";
  }
};

Result<double> timeOnce(const BenchWork& work) {
  const auto start = Clock::now();
  KERF_CHECK(work());
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// One unmeasured run warms caches and thread pools up.
Result<void> measure(const BenchWork& work, int repeats, Outcome& outcome, std::stop_token stop) {
  KERF_CHECK(work());
  for (int i = 0; i < repeats; ++i) {
    if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "interrupted");
    KERF_TRY(const double time, timeOnce(work));
    outcome.times.push_back(time);
  }
  std::ranges::sort(outcome.times);
  return {};
}

/// The median of the other program; nothing when it is not here.
std::optional<double> medianBeside(const BenchCase& bench, const std::filesystem::path& input, int repeats,
                                   std::stop_token stop) {
  if (bench.beside == nullptr) return std::nullopt;
  const auto work = bench.beside(input);
  Outcome other{&bench, {}, {}, {}};
  if (!work || !measure(*work, std::min(repeats, 3), other, stop) || !other.measured()) return std::nullopt;
  return other.median();
}

Result<Outcome> runCase(const BenchCase& bench, const Options& options, std::stop_token stop) {
  Outcome outcome{&bench, {}, {}, {}};
  const auto input = bench.input.empty() ? std::filesystem::path() : recordingsFolder(options.corpus) / bench.input;
  std::error_code ignored;
  if (!input.empty() && !std::filesystem::exists(input, ignored)) {
    outcome.skipped = fmt::format("{} was not found; set --corpus or KERF_CORPUS", input.string());
    return outcome;
  }
  auto work = bench.prepare(input);
  if (!work) return fail(work.error().while_("preparing benchmark " + bench.name));
  auto done = measure(*work, options.repeats, outcome, stop);
  if (!done) return fail(done.error().while_("running benchmark " + bench.name));
  outcome.besideMs = medianBeside(bench, input, options.repeats, stop);
  return outcome;
}

Json toJson(const Outcome& outcome) {
  Json row{{"name", outcome.bench->name}, {"what", outcome.bench->what}, {"verdict", outcome.verdict()}};
  row["target_ms"] = outcome.bench->targetMilliseconds > 0 ? Json(outcome.bench->targetMilliseconds) : Json(nullptr);
  if (!outcome.measured()) {
    row["skipped"] = outcome.skipped;
    return row;
  }
  row["min_ms"] = outcome.times.front();
  row["median_ms"] = outcome.median();
  row["max_ms"] = outcome.times.back();
  row["runs"] = outcome.times.size();
  if (outcome.bench->beside != nullptr) {
    row["beside_ms"] = outcome.besideMs ? Json(*outcome.besideMs) : Json();
    row["ratio"] = outcome.besideMs ? Json(outcome.median() / *outcome.besideMs) : Json();
  }
  return row;
}

std::string besideText(const Outcome& outcome) {
  if (!outcome.besideMs) return {};
  return fmt::format("; python3 reading it {:.0f} ms, {:.2f} of that", *outcome.besideMs,
                     outcome.median() / *outcome.besideMs);
}

void printRow(const Outcome& outcome) {
  const BenchCase& bench = *outcome.bench;
  if (!outcome.measured()) {
    fmt::print("{:<22} {:>10} {:>10} {:>10} {:>10}  skipped: {}\n", bench.name, "", "", "", "", outcome.skipped);
    return;
  }
  const std::string target = bench.targetMilliseconds > 0 ? fmt::format("{:.0f}", bench.targetMilliseconds) : "-";
  fmt::print("{:<22} {:>10.3f} {:>10.3f} {:>10.3f} {:>10}  {:<8} {}{}\n", bench.name, outcome.times.front(),
             outcome.median(), outcome.times.back(), target, outcome.verdict(), bench.what, besideText(outcome));
  std::fflush(stdout);
}

void listCases(const Context& context) {
  Json rows = Json::array();
  for (const auto& bench : benchCases()) {
    if (context.json)
      rows.push_back({{"name", bench.name}, {"what", bench.what}});
    else
      fmt::print("{:<22} {}\n", bench.name, bench.what);
  }
  if (context.json) printJson({{"benchmarks", rows}});
}

/// Generated code beside the interpreter.
Result<int> compiledBench(const Options& options, bool json) {
  const CompiledBenchOptions compiled{options.graphs.paths, options.repeats, options.graphs.profile, options.filter,
                                      options.backend};
  KERF_TRY(const auto rows, benchCompiled(compiled, interruptToken()));
  printCompiledTimes(rows, json);
  return 0;
}

/// Kerf's products beside the libraries'.
Result<int> productBench(const Options& options, bool json) {
  KERF_TRY(const auto rows,
           benchProducts({options.graphs.paths, options.repeats, options.filter, options.cold}, interruptToken()));
  printProductTimes(rows, json);
  return 0;
}

Result<int> allReduceBench(const Options& options, bool json) {
  constexpr int calls = 20;
  KERF_TRY(const CollectiveTimes times, timeAllReduce(options.ranks, options.allReduceBytes, options.repeats, calls));
  if (json)
    printJson({{"collective", "all_reduce"},
               {"process_group", "nccl " + times.nccl},
               {"ranks", times.ranks},
               {"bytes", times.bytes},
               {"ms", times.ms},
               {"median_ms", times.medianMs},
               {"bus_gb_s", times.busGigabytes}});
  else
    fmt::print("all_reduce of {} bytes on {} ranks over NCCL {}: {:.3f} ms, bus bandwidth {:.1f} GB/s\n", times.bytes,
               times.ranks, times.nccl, times.medianMs, times.busGigabytes);
  return 0;
}

Result<int> bench(Context& context, const Options& options) {
  if (options.allReduceBytes > 0) return allReduceBench(options, context.json);
  if (options.products) return productBench(options, context.json);
  if (options.compiled) return compiledBench(options, context.json);
  if (!options.graphs.paths.empty()) {
    GraphBenchOptions graphs = options.graphs;
    graphs.repeats = options.repeats;
    graphs.filter = options.filter;
    KERF_TRY(const auto rows, benchGraphs(graphs, interruptToken()));
    printGraphTimes(rows, context.json);
    return 0;
  }
  if (options.ops) return printOpTimes(options.filter, options.repeats, context.json, interruptToken());
  if (options.list) {
    listCases(context);
    return 0;
  }
  if (!context.json)
    fmt::print("{:<22} {:>10} {:>10} {:>10} {:>10}  verdict\n", "benchmark", "min ms", "median ms", "max ms",
               "target ms");
  Json rows = Json::array();
  bool over = false;
  for (const auto& entry : benchCases()) {
    if (entry.name.find(options.filter) == std::string::npos) continue;
    KERF_TRY(const Outcome outcome, runCase(entry, options, interruptToken()));
    over |= outcome.over();
    if (context.json)
      rows.push_back(toJson(outcome));
    else
      printRow(outcome);
  }
  if (context.json) printJson({{"benchmarks", rows}, {"within_targets", !over}});
  return over ? 1 : 0;
}

}  // namespace

void addBench(CommandLine& line) {
  auto& command = line.add("bench", "Measure Kerf itself against its targets",
                           "  kerf bench\n  kerf bench --filter import --repeats 20 --json\n"
                           "  kerf bench --graphs repros/ --profile\n"
                           "  kerf bench --ops --filter softmax\n"
                           "  kerf bench --compiled --filter gelu\n"
                           "  kerf bench --compiled --filter memory/ --backend cuda\n"
                           "  kerf bench --products --graphs repro.py --cold\n"
                           "  kerf bench --all-reduce 1073741824 --ranks 2 --json\n"
                           "  kerf bench --compiled --graphs repro.py trace.log#aot_forward_graph --profile");
  auto options = std::make_shared<Options>();
  command
      .add_option("--corpus", options->corpus,
                  "Folder with recorded inputs (default: $KERF_CORPUS, then those of the source tree)")
      ->type_name("DIR");
  command.add_option("--filter", options->filter, "Only benchmarks whose name contains this")->type_name("TEXT");
  command.add_option("--repeats", options->repeats, "How often to run each benchmark")->check(CLI::Range(1, 10000));
  command.add_flag("--list", options->list, "List the benchmarks and stop");
  command.add_flag("--ops", options->ops, "Measure single ops instead, by family and dtype");
  command.add_flag("--compiled", options->compiled,
                   "Compare generated kernels with the interpreter and a memory copy; with --graphs, whole graphs");
  command
      .add_option("--backend", options->backend,
                  "With --compiled: llvm, or cuda (inputs on the device, compared with the device's copies)")
      ->check(CLI::IsMember({"llvm", "cuda"}))
      ->capture_default_str();
  command.add_flag("--products", options->products, "Compare matrix products (of --graphs) with OpenBLAS and oneDNN");
  command.add_flag("--cold", options->cold, "With --products: operands that are in no cache");
  command.add_option("--graphs", options->graphs.paths, "Measure the interpreter on these graphs or folders")
      ->type_name("PATH");
  command.add_option("--precision", options->graphs.precisions, "With --graphs: native, f64 (default: both)")
      ->check(CLI::IsMember({"native", "f64"}));
  command.add_flag("--profile", options->graphs.profile,
                   "With --graphs: list the time by op; with --compiled: by kernel");
  command
      .add_option("--all-reduce", options->allReduceBytes,
                  "Time an all_reduce of float32 tensors of so many bytes over NCCL, one rank on each CUDA device")
      ->type_name("BYTES")
      ->check(CLI::Range(std::int64_t{4}, std::int64_t{1} << 36));
  command.add_option("--ranks", options->ranks, "With --all-reduce: how many ranks")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  line.onRun(command, [options](Context& context) { return bench(context, *options); });
}

}  // namespace kerf::cli
