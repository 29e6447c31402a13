// kerf bisect GRAPH --by pass|node: where a difference begins.
#include "app/cli/commands.h"
#include "app/cli/compare_graph.h"
#include "app/cli/divergence_child.h"
#include "app/cli/pass_bisection.h"
#include "app/cli/symbols.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

struct BisectArguments {
  std::string graph, by;
  std::vector<std::string> plants, symbols;
  PassArguments passes;
  double tolerance = 1e-3, timeout = 60;
};

Result<EngineOracleOptions> optionsFor(const BisectArguments& arguments) {
  EngineOracleOptions options;
  KERF_TRY(options.compile.faults, parsePlants(arguments.plants));
  KERF_TRY(options.compile.passes, passConfig(arguments.passes));
  options.compare.tolerance = arguments.tolerance;
  options.limits.timeout = std::chrono::milliseconds(std::int64_t(arguments.timeout * 1000));
  return options;
}

Json resultJson(const BisectArguments& arguments, const std::vector<std::string>& culprits, const std::string& note) {
  return {{"graph", arguments.graph}, {"by", arguments.by}, {"culprits", culprits}, {"note", note}};
}

void printResult(const BisectArguments& arguments, const std::vector<std::string>& culprits, const std::string& note) {
  for (const auto& name : culprits) fmt::print("the fault begins at {} {}\n", arguments.by, name);
  if (!note.empty()) fmt::print("{}\n", note);
}

Result<int> byNode(Context& context, const BisectArguments& arguments, const EngineOracleOptions& options,
                   const Candidate& candidate) {
  KERF_TRY(const auto report, divergenceInChild(candidate, options, context.stop()));
  std::vector<std::string> culprits;
  for (const auto& node : report.nodes) {
    if (node.firstBad) culprits.push_back(node.node);
  }
  std::string note = report.failure;
  if (culprits.empty() && note.empty()) note = "no node differs";
  auto object = resultJson(arguments, culprits, note);
  object["nodes_compared"] = report.nodes.size();
  if (context.json)
    printJson(object);
  else
    printResult(arguments, culprits, note);
  return culprits.empty() && report.failure.empty() ? 0 : 1;
}

Result<int> byPass(Context& context, const BisectArguments& arguments, const EngineOracleOptions& options,
                   const Candidate& candidate) {
  KERF_TRY(const auto bisection, bisectPasses(candidate, options, context.stop()));
  std::vector<std::string> culprits;
  if (!bisection.culprit.empty()) culprits.push_back(bisection.culprit);
  auto object = resultJson(arguments, culprits, bisection.note);
  object["trials"] = Json::array();
  TextTable table({"passes on", "verdict"});
  for (const auto& trial : bisection.trials) {
    object["trials"].push_back({{"enabled", trial.enabled}, {"same", trial.same}, {"detail", trial.detail}});
    table.add({trial.enabled.empty() ? "(none)" : fmt::format("{}", fmt::join(trial.enabled, ", ")),
               trial.same ? "same" : "DIFFERENT: " + trial.detail});
  }
  if (context.json) {
    printJson(object);
  } else {
    fmt::print("{}", table.text());
    printResult(arguments, culprits, bisection.note);
  }
  return bisection.trials.back().same ? 0 : 1;
}

Result<int> runBisect(Context& context, const BisectArguments& arguments) {
  KERF_TRY(auto source, resolveGraph(context, arguments.graph, arguments.symbols));
  KERF_TRY(auto inputs, prepareToRun(source));
  const Candidate candidate{source.graph().module, std::move(inputs)};
  KERF_TRY(const auto options, optionsFor(arguments));
  KERF_CHECK(checkOptions(candidate.module, options.compile));
  return arguments.by == "pass" ? byPass(context, arguments, options, candidate)
                                : byNode(context, arguments, options, candidate);
}

}  // namespace

void addBisect(CommandLine& line) {
  auto& command = line.add("bisect", "Find the pass or node at which a difference begins (exit 1 if there is one)",
                           "  kerf bisect repro.py --by node --plant relu=accuracy\n"
                           "  kerf bisect c3/g1 --by pass --plant pass:cse=accuracy");
  auto arguments = std::make_shared<BisectArguments>();
  command.add_option("GRAPH", arguments->graph, "Path or store id")->required();
  command.add_option("--by", arguments->by, "pass: passes enabled one after the other; node: every node compared")
      ->check(CLI::IsMember({"pass", "node"}))
      ->required();
  command.add_option("--plant", arguments->plants, "Plant a fault in the compiled side, as for `kerf compare`")
      ->type_name("FAULT")
      ->allow_extra_args(false);
  command.add_option("--tol", arguments->tolerance, "Tolerance of same()")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--timeout", arguments->timeout, "Seconds one comparison may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  addPassOptions(command, arguments->passes);
  addSymbolOption(command, arguments->symbols);
  line.onRun(command, [arguments](Context& context) { return runBisect(context, *arguments); });
}

}  // namespace kerf::cli
