// kerf bisect GRAPH --by PART: where a difference begins.
#include <map>

#include <fmt/ranges.h>

#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/oracle_options.h"
#include "app/cli/pass_check.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

using By = BisectRequest::By;

struct BisectArguments {
  BisectRequest request;
  PassCheckChoice check;
  std::string by;
};

const std::map<std::string, By> kinds{{"pass", By::Pass},     {"node", By::Node},      {"subsystem", By::Subsystem},
                                      {"config", By::Config}, {"fusion", By::Fusion},  {"kernel", By::Kernel},
                                      {"module", By::Module}, {"version", By::Version}};

/// The names of many parts fill the screen: how many, and the last.
std::string enabledText(const std::vector<std::string>& enabled) {
  constexpr std::size_t shown = 4;
  if (enabled.empty()) return "(none)";
  if (enabled.size() <= shown) return fmt::format("{}", fmt::join(enabled, ", "));
  return fmt::format("{}, … {} ({} in all)", enabled.front(), enabled.back(), enabled.size());
}

Json bisectionJson(const BisectArguments& arguments, const Bisection& bisection) {
  Json object{{"graph", arguments.request.graph.text},
              {"by", arguments.by},
              {"culprits", bisection.culprits},
              {"remarks", bisection.remarks},
              {"note", bisection.note}};
  if (arguments.request.by == By::Node) {
    object["nodes_compared"] = bisection.nodesCompared;
    return object;
  }
  object["trials"] = jsonOf(bisection.trials);
  return object;
}

void printBisection(const BisectArguments& arguments, const Bisection& bisection) {
  TextTable table({"on", "verdict"});
  for (const auto& trial : bisection.trials) {
    table.add({enabledText(trial.enabled), trial.same ? "same" : "DIFFERENT: " + trial.detail});
  }
  if (!bisection.trials.empty()) fmt::print("{}", table.text());
  for (const auto& name : bisection.culprits) fmt::print("the fault begins at {} {}\n", arguments.by, name);
  for (const auto& remark : bisection.remarks) fmt::print("{}\n", remark);
  if (!bisection.note.empty()) fmt::print("{}\n", bisection.note);
}

Result<int> runBisect(Context& context, BisectArguments arguments) {
  BisectRequest& request = arguments.request;
  if (!request.versions.empty()) {
    if (!arguments.by.empty() && arguments.by != "version")
      return fail(ErrorCode::BadUsage, "--versions bisects by version, not by {}", arguments.by);
    arguments.by = "version";
  }
  if (arguments.by.empty()) return fail(ErrorCode::BadUsage, "--by KIND or --versions PYTHON… is missing");
  request.by = kinds.at(arguments.by);
  if (request.by == By::Version) request.oracle = "torch";
  KERF_CHECK(takeNumericCheck(request.passes, arguments.check));
  KERF_TRY(const auto bisection, context.perform(request));
  const PassesRequest checking = checkRequest(request.graph, request.passes, arguments.check, request.plants);
  KERF_TRY(const auto check, checkedPasses(context, checking));
  if (context.json) {
    Json answer = bisectionJson(arguments, bisection);
    if (check.asked) answer["check"] = jsonOf(check);
    printJson(answer);
  } else {
    printBisection(arguments, bisection);
    printPassCheck(check);
  }
  return bisection.different || !check.good() ? 1 : 0;
}

}  // namespace

void addBisect(CommandLine& line) {
  auto& command =
      line.add("bisect", "Find the pass, part or node where a difference begins (exit 1 if there is one)",
               "  kerf bisect repro.py --by node --plant relu=accuracy\n"
               "  kerf bisect c3/g1 --by pass --plant pass:cse=accuracy\n"
               "  kerf bisect model.pt2 --by module --plant relu=accuracy\n"
               "  kerf bisect repro.py --by config --config constant_folding.max_bytes=1024\n"
               "  kerf bisect minifier_launcher.py --by subsystem --oracle torch\n"
               "  kerf bisect repro.py --by config --oracle torch --option torch._inductor.config.max_autotune=True\n"
               "  kerf bisect repro.py --versions python3.11 env-2.12/bin/python env-2.13/bin/python");
  auto arguments = std::make_shared<BisectArguments>();
  auto& request = arguments->request;
  command.add_option("GRAPH", request.graph.text, "Path or store id")->required();
  command
      .add_option(
          "--by", arguments->by,
          "What to turn off to find the culprits: pass; subsystem (decompositions with --decompositions; pre-grad, "
          "joint and post-grad passes, lowering and code generation, fusion, memory plan, LLVM optimisation); config "
          "(the options given with --config); fusion (fused kernels); kernel (generated kernels); module (modules of "
          "the model, each compiled alone). Or node: compare every node; version: with --versions")
      ->check(CLI::IsMember(kinds))
      ->type_name("KIND");
  command
      .add_option("--versions", request.versions,
                  "Programs that have PyTorch, in the order of their versions (\"python3.11\", \"env/bin/python -s\"): "
                  "between which of them the graph begins to fail, or stops")
      ->type_name("PYTHON")
      ->expected(1, 1000);
  command
      .add_option("--oracle", request.oracle,
                  "engine, or torch (your PyTorch): --by pass or subsystem uses its CompilerBisector, --by config "
                  "the options in the capture and those of --option")
      ->check(CLI::IsMember({"engine", "torch"}))
      ->capture_default_str();
  command.add_option("--backend", request.backend, "engine: llvm, interp or cuda: the compiled side")
      ->capture_default_str();
  addDecompositionOption(command, request.decompositions);
  command.add_option("--python", request.python, "torch: the Python that has PyTorch")
      ->type_name("EXE")
      ->capture_default_str();
  command.add_option("--fails-if", request.torchCheck, "torch: what counts as a failure, as for `kerf minify`")
      ->capture_default_str();
  command.add_option("--option", request.options, "torch, --by config: one more option to set (repeatable)")
      ->type_name("NAME=VALUE");
  addPlantOption(command, request.plants, "Plant a fault in the compiled side, as for `kerf compare`");
  addAccuracyOptions(command, request.tolerance, request.accuracy, true, "Tolerance of same()");
  addTimeoutOption(command, request.timeout, "Seconds that one comparison may take");
  addRunLimitOptions(command, request.limits);
  addCheckedPassOptions(command, request.passes, arguments->check);
  addInputOptions(command, request.graph);
  addSymbolOption(command, request.graph.symbols);
  line.onRun(command, [arguments](Context& context) { return runBisect(context, *arguments); });
}

}  // namespace kerf::cli
