// kerf compare GRAPH: same_two_models: the compiled graph against the interpreter, both measured against fp64.
#include "app/cli/commands.h"
#include "app/cli/compare_graph.h"
#include "app/cli/symbols.h"

namespace kerf::cli {

namespace {

struct CompareArguments {
  std::string graph;
  CompareSettings settings;
  double timeout = 60;
  std::vector<std::string> symbols;
};

Result<int> runCompare(Context& context, CompareArguments arguments) {
  KERF_CHECK(findBackend(arguments.settings.backend));
  arguments.settings.timeout = std::chrono::milliseconds(std::int64_t(arguments.timeout * 1000));
  KERF_CHECK(parsePlants(arguments.settings.plants));
  KERF_TRY(auto source, resolveGraph(context, arguments.graph, arguments.symbols));
  KERF_TRY(const auto outcome, compareGraph(context, source, arguments.settings));
  if (context.json)
    printJson(compareJson(arguments.graph, arguments.settings, outcome));
  else
    printComparison(outcome, context.verbose);
  return outcome.good() ? 0 : 1;
}

}  // namespace

void addCompare(CommandLine& line) {
  auto& command =
      line.add("compare", "Compare the compiled graph with the interpreter and fp64 (exit 1 if they differ)",
               "  kerf compare repro.py\n"
               "  kerf compare c3/g1 --nodes --json\n"
               "  kerf compare repro.py --plant relu=accuracy --nodes");
  auto arguments = std::make_shared<CompareArguments>();
  auto& settings = arguments->settings;
  command.add_option("GRAPH", arguments->graph, "Path or store id")->required();
  command.add_option("--backend", settings.backend, "llvm or interp: what runs the graph that the passes left")
      ->capture_default_str();
  command.add_option("--tol", settings.tolerance, "Tolerance of same() (PyTorch's repro_tolerance)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_flag("--nodes", settings.nodes, "Also compare every node, worst first, and mark where the fault starts");
  command
      .add_option("--plant", settings.plants,
                  "Plant a fault in the compiled side: OP=KIND or pass:NAME=KIND, KIND one "
                  "of accuracy, compile_error, runtime_error, crash, hang, flaky:P")
      ->type_name("FAULT")
      ->allow_extra_args(false);
  command.add_option("--timeout", arguments->timeout, "Seconds the compiled side may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  addPassOptions(command, settings.passes);
  addSymbolOption(command, arguments->symbols);
  line.onRun(command, [arguments](Context& context) { return runCompare(context, *arguments); });
}

}  // namespace kerf::cli
