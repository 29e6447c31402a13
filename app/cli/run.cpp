// kerf run GRAPH: runs a graph on its recorded inputs; saves the outputs or checks them against recorded ones.
#include <algorithm>
#include <map>

#include "app/cli/annotations_report.h"
#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/numbers.h"
#include "app/cli/options.h"
#include "app/cli/pass_check.h"
#include "app/cli/rank_runs.h"
#include "app/cli/repro_dump.h"
#include "app/cli/run_reports.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

Json reportJson(const RunRequest& request, const RunReport& report) {
  Json object{{"graph", request.graph.text},  {"backend", request.backend},
              {"dtype", report.dtype},        {"precision", request.precision},
              {"rounding", request.rounding}, {"elapsed_ms", milliseconds(report.time)},
              {"outputs", report.outputs},    {"inputs", jsonOf(report.inputs)}};
  object["mutated"] = Json::array();
  for (const auto& [name, value] : report.mutated) object["mutated"].push_back({{"name", name}, {"value", value}});
  if (!report.trained.empty()) object["trained"] = Json(std::map(report.trained.begin(), report.trained.end()));
  if (!report.symbols.empty()) object["symbols"] = Json(std::map(report.symbols.begin(), report.symbols.end()));
  if (!request.then.empty()) {
    object["then"] = Json::array();
    for (const auto& run : report.then)
      object["then"].push_back({{"symbols", Json(std::map(run.symbols.begin(), run.symbols.end()))},
                                {"outputs", run.outputs},
                                {"elapsed_ms", milliseconds(run.time)}});
    object["compilations"] = report.compilations;
    object["recompilations"] = report.recompilations;
  }
  object["annotations"] = jsonOf(report.annotations);
  if (report.profile && request.profile) object["profile"] = profileJson(*report.profile);
  if (report.profile && request.memory) object["memory"] = memoryJson(*report.profile);
  if (request.expect.empty()) return object;
  object["expected"] = jsonOf(report.expected);
  object["limit"] = report.limit;
  object["same"] = report.same;
  return object;
}

void printExpected(const RunReport& report) {
  TextTable table({"output", "shape", "max abs error", "relative error", "verdict"});
  for (const auto& row : report.expected) {
    table.add({row.name, row.shape, figure(row.maxAbsError), figure(row.relativeError),
               row.withinRounding ? "same (within rounding)"
               : row.same         ? "same"
                                  : "DIFFERENT: " + row.reason});
  }
  const auto good = std::ranges::count(report.expected, true, &ExpectationRow::same);
  fmt::print("{}{} of {} outputs equal the recorded ones (limit {:g})\n", table.text(), good, report.expected.size(),
             report.limit);
}

/// The runs of --then, and how often the graph was compiled for all of them.
void printThen(const RunReport& report) {
  for (const auto& run : report.then) {
    fmt::print("\n");
    for (std::size_t i = 0; i < run.outputs.size(); ++i) fmt::print("out{}  {}\n", i, run.outputs[i]);
    fmt::print("{}in {}\n", symbolLine(run.symbols), durationText(run.time));
  }
  if (report.then.empty()) return;
  fmt::print("\n{} sizes, compiled {}\n", report.then.size() + 1,
             report.compilations == 1 ? "once" : fmt::format("{} times", report.compilations));
  for (const auto& guard : report.recompilations) fmt::print("compiled again: {}\n", guard);
}

void printReport(const RunRequest& request, const RunReport& report) {
  if (!request.expect.empty()) {
    printExpected(report);
  } else {
    for (std::size_t i = 0; i < report.outputs.size(); ++i) fmt::print("out{}  {}\n", i, report.outputs[i]);
    for (const auto& [name, value] : report.mutated) fmt::print("mutates {}  {}\n", name, value);
    for (const auto& [name, value] : report.trained) fmt::print("{}  {}\n", name, value);
  }
  fmt::print("{}", symbolLine(report.symbols));
  printAnnotations(report.annotations);
  fmt::print("{} in {}\n", request.backend, durationText(report.time));
  printThen(report);
  if (report.profile && request.profile) printProfile(*report.profile);
  if (report.profile && request.memory) printMemory(*report.profile);
}

/// A folder with a file for each rank: all of them together.
Result<int> runEachRank(Context& context, const RunRequest& request) {
  if (!request.expect.empty() || !request.then.empty() || request.profile || request.memory)
    return fail(ErrorCode::BadUsage, "ranks run together: recorded outputs, other sizes and profiles are of one graph");
  if (!request.passes.usual() || request.graph.stage == "joint")
    return fail(ErrorCode::BadUsage, "ranks run together: their graphs run as they are, without passes and training");
  RankRunsRequest ranks{.graph = request.graph, .backend = request.backend, .dtype = request.dtype};
  if (request.precision == "fp64") ranks.dtype = "f64";
  ranks.timeout = request.timeout;
  ranks.save = request.save;
  return runOnRanks(context, ranks);
}

Result<int> runRun(Context& context, RunRequest request, PassCheckChoice choice, const ReproDump& dump) {
  KERF_TRY(const bool isOfRanks, meansRanks(context, request.graph.text));
  if (isOfRanks) return runEachRank(context, request);
  KERF_CHECK(takeNumericCheck(request.passes, choice));
  KERF_CHECK(dumpBefore(context, dump, request.graph));
  const auto ran = context.perform(request);
  if (!ran && ran.error().code != ErrorCode::Cancelled && ran.error().code != ErrorCode::BadUsage)
    KERF_CHECK(dumpAfter(context, dump, request.graph, FailureOfRun::Exception));
  if (!ran) return fail(ran.error());
  const RunReport& report = *ran;
  KERF_CHECK(dumpAfter(context, dump, request.graph, report.same ? FailureOfRun::None : FailureOfRun::Accuracy));
  KERF_TRY(const auto check, checkedPasses(context, checkRequest(request.graph, request.passes, choice)));
  if (context.json) {
    Json answer = reportJson(request, report);
    if (check.asked) answer["check"] = jsonOf(check);
    printJson(answer);
  } else {
    printReport(request, report);
    printPassCheck(check);
  }
  return report.same && check.good() ? 0 : 1;
}

void addFileOptions(CLI::App& command, RunRequest& request) {
  command
      .add_option("--save", request.save,
                  "Write the outputs as out<i> (out64_<i> with --dtype f64) and mutated inputs as mutated_<name>; of "
                  "ranks a folder with rank0.safetensors, …")
      ->type_name("FILE.safetensors");
  command.add_option("--expect", request.expect, "Compare with recorded outputs (exit 1 if one differs)")
      ->type_name("FILE.safetensors");
  command.add_option("--rtol", request.rtol, "Accepted relative error (default 1e-5; f64 1e-12, bf16 2e-2, f16 2e-3)")
      ->check(numberBetween(0, 1e30));
}

}  // namespace

void addRun(CommandLine& line) {
  auto& command = line.add("run", "Run a graph on its recorded inputs",
                           "  kerf run repro.py --backend llvm\n"
                           "  kerf run repro.py --backend llvm --profile\n"
                           "  kerf run repro.py --backend llvm --memory\n"
                           "  kerf run repro.py --expect train_forward_io.safetensors --dtype f64\n"
                           "  kerf run model.pt2 --expect eval_io.safetensors\n"
                           "  kerf run trace.log#aot_forward_graph --sym s0=8 --sym s1=3\n"
                           "  kerf run dynamic.py --backend llvm --sym s0=8 --then s0=16 --then s0=1\n"
                           "  kerf run c3/g1 --save outputs.safetensors\n"
                           "  kerf run model.pt2 --train --expect train_ref.safetensors\n"
                           "  kerf run ranks --save values");
  auto request = std::make_shared<RunRequest>();
  command
      .add_option("GRAPH", request->graph.text, "Path or store id; a folder with rank0.py, rank1.py, … runs all ranks")
      ->required();
  command.add_option("--backend", request->backend, "interp, llvm or cuda")->capture_default_str();
  command
      .add_option("--dtype", request->dtype,
                  "Cast floating-point values first: f64 (like PyTorch's cast_to_fp64), f32, bf16 or f16")
      ->check(CLI::IsMember({"f64", "f32", "bf16", "f16"}));
  command
      .add_option(
          "--precision", request->precision,
          "native; fp64 (like --dtype f64); upcast: recorded inputs, arithmetic in fp64, rounded outputs; exact: "
          "sums and matrix products rounded once")
      ->check(CLI::IsMember({"native", "fp64", "upcast", "exact"}))
      ->capture_default_str();
  command
      .add_option("--rounding", request->rounding,
                  "Where generated kernels round bf16 and f16 values: eager (after every op) or inductor (only what "
                  "they store, the default of torch.compile)")
      ->check(CLI::IsMember({"eager", "inductor"}))
      ->capture_default_str();
  addFileOptions(command, *request);
  addTrainOptions(command, request->graph,
                  "Run a training step: forward, loss and backward. The results include loss and grad.<parameter>");
  command
      .add_option("--loss", request->loss,
                  "Loss of --train: mean (the mean over outputs of sum / numel; the default), sum, or one output "
                  "(out0)")
      ->type_name("mean|sum|OUTPUT")
      ->needs("--train");
  command.add_flag("--profile", request->profile,
                   "Time every kernel of the compiled graph: bytes, operations, and its share of the machine's limit");
  command.add_flag("--memory", request->memory,
                   "Show the planned and the measured bytes in use at each step of the compiled graph");
  addMemoryOption(command, request->memoryLimit);
  addTimeoutOption(command, request->timeout, "Seconds that compiling and running may take (default: no limit)");
  auto check = std::make_shared<PassCheckChoice>();
  addCheckedPassOptions(command, request->passes, *check);
  addInputOptions(command, request->graph);
  addSymbolOption(command, request->graph.symbols);
  command
      .add_option("--then", request->then,
                  "Run the compiled graph again with these sizes, e.g. s0=16,s1=4 (repeatable). It is recompiled "
                  "only if a guard fails")
      ->type_name("NAME=VALUE,…")
      ->allow_extra_args(false);
  auto dump = std::make_shared<ReproDump>();
  addReproOptions(command, *dump);
  line.onRun(command, [request, check, dump](Context& context) { return runRun(context, *request, *check, *dump); });
}

}  // namespace kerf::cli
