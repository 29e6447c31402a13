// kerf compare GRAPH: same_two_models: the compiled graph against the interpreter, both measured against fp64.
#include "app/cli/commands.h"
#include "app/cli/comparison_report.h"
#include "app/cli/options.h"

namespace kerf::cli {

namespace {

Result<int> runCompare(Context& context, const CompareRequest& request) {
  KERF_TRY(const auto comparison, context.perform(request));
  if (context.json)
    printJson(comparisonJson(request, comparison));
  else
    printComparison(comparison, request.depth, context.verbose);
  return comparison.good() ? 0 : 1;
}

}  // namespace

void addCompare(CommandLine& line) {
  auto& command =
      line.add("compare", "Compare the compiled graph with the interpreter and fp64 (exit 1 if they differ)",
               "  kerf compare repro.py\n"
               "  kerf compare c3/g1 --nodes --json\n"
               "  kerf compare repro.py --plant relu=accuracy --nodes");
  auto request = std::make_shared<CompareRequest>();
  command.add_option("GRAPH", request->graph.text, "Path or store id")->required();
  command.add_option("--backend", request->backend, "llvm or interp: what runs the graph that the passes left")
      ->capture_default_str();
  addToleranceOption(command, request->tolerance, "Tolerance of same() (PyTorch's repro_tolerance)");
  command.add_flag_callback(
      "--nodes", [request] { request->depth = CompareRequest::Depth::Nodes; },
      "Also compare every node, worst first, and mark where the fault starts");
  addPlantOption(command, request->plants,
                 "Plant a fault in the compiled side: OP=KIND or pass:NAME=KIND, KIND one "
                 "of accuracy, compile_error, runtime_error, crash, hang, flaky:P");
  addTimeoutOption(command, request->timeout, "Seconds the compiled side may take");
  addPassOptions(command, request->passes);
  addSymbolOption(command, request->graph.symbols);
  line.onRun(command, [request](Context& context) { return runCompare(context, *request); });
}

}  // namespace kerf::cli
