// kerf bisect GRAPH --by pass|node: where a difference begins.
#include <fmt/ranges.h>

#include "app/cli/accuracy_options.h"
#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

using By = BisectRequest::By;

struct BisectArguments {
  BisectRequest request;
  std::string by;
};

Json bisectionJson(const BisectArguments& arguments, const Bisection& bisection) {
  Json object{{"graph", arguments.request.graph.text},
              {"by", arguments.by},
              {"culprits", bisection.culprits},
              {"note", bisection.note}};
  if (arguments.request.by == By::Node) {
    object["nodes_compared"] = bisection.nodesCompared;
    return object;
  }
  object["trials"] = Json::array();
  for (const auto& trial : bisection.trials)
    object["trials"].push_back({{"enabled", trial.enabled}, {"same", trial.same}, {"detail", trial.detail}});
  return object;
}

void printBisection(const BisectArguments& arguments, const Bisection& bisection) {
  TextTable table({"passes on", "verdict"});
  for (const auto& trial : bisection.trials) {
    table.add({trial.enabled.empty() ? "(none)" : fmt::format("{}", fmt::join(trial.enabled, ", ")),
               trial.same ? "same" : "DIFFERENT: " + trial.detail});
  }
  if (!bisection.trials.empty()) fmt::print("{}", table.text());
  for (const auto& name : bisection.culprits) fmt::print("the fault begins at {} {}\n", arguments.by, name);
  if (!bisection.note.empty()) fmt::print("{}\n", bisection.note);
}

Result<int> runBisect(Context& context, BisectArguments arguments) {
  arguments.request.by = arguments.by == "pass" ? By::Pass : By::Node;
  KERF_TRY(const auto bisection, context.perform(arguments.request));
  if (context.json)
    printJson(bisectionJson(arguments, bisection));
  else
    printBisection(arguments, bisection);
  return bisection.different ? 1 : 0;
}

}  // namespace

void addBisect(CommandLine& line) {
  auto& command = line.add("bisect", "Find the pass or node at which a difference begins (exit 1 if there is one)",
                           "  kerf bisect repro.py --by node --plant relu=accuracy\n"
                           "  kerf bisect c3/g1 --by pass --plant pass:cse=accuracy");
  auto arguments = std::make_shared<BisectArguments>();
  auto& request = arguments->request;
  command.add_option("GRAPH", request.graph.text, "Path or store id")->required();
  command.add_option("--by", arguments->by, "pass: passes enabled one after the other; node: every node compared")
      ->check(CLI::IsMember({"pass", "node"}))
      ->required();
  addPlantOption(command, request.plants, "Plant a fault in the compiled side, as for `kerf compare`");
  addAccuracyOptions(command, request.tolerance, request.accuracy, true, "Tolerance of same()");
  addTimeoutOption(command, request.timeout, "Seconds one comparison may take");
  addRunLimitOptions(command, request.limits);
  addPassOptions(command, request.passes);
  addInputOptions(command, request.graph);
  addSymbolOption(command, request.graph.symbols);
  line.onRun(command, [arguments](Context& context) { return runBisect(context, *arguments); });
}

}  // namespace kerf::cli
