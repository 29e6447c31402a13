// kerf diff GRAPH GRAPH: what differs in structure, node by node, and as text.
#include "app/cli/commands.h"
#include "app/cli/diff_report.h"
#include "app/cli/graph_source.h"

namespace kerf::cli {

namespace {

struct DiffArguments {
  std::string first, second;
  bool sideBySide = false;
};

/// Shapes are compared where both graphs have them.
void annotate(GraphSource& a, GraphSource& b) {
  const auto first = a.graph(), second = b.graph();
  if (annotateShapes(a) && annotateShapes(b)) return;
  a.graph() = first;
  b.graph() = second;
}

Result<int> runDiff(Context& context, const DiffArguments& arguments) {
  KERF_TRY(auto first, resolveGraph(context, arguments.first));
  KERF_TRY(auto second, resolveGraph(context, arguments.second));
  annotate(first, second);
  const auto comparison = compareModules(first.graph().module, second.graph().module);
  if (context.json)
    printJson(comparisonJson(comparison));
  else if (arguments.sideBySide)
    fmt::print("{}", sideBySide(comparison, terminalWidth(), terminalHasColours()));
  else
    fmt::print("{}", comparisonText(comparison, arguments.first, arguments.second));
  return comparison.same() ? 0 : 1;
}

}  // namespace

void addDiff(CommandLine& line) {
  auto& command =
      line.add("diff", "Structural difference of two graphs (exit 1 if they differ)",
               "  kerf diff c3/g1 c3/g1@pass:cse\n"
               "  kerf diff trace.log#before_post_grad_graph trace.log#after_post_grad_graph --side-by-side\n"
               "  kerf diff repro.py small/repro.py --json");
  auto arguments = std::make_shared<DiffArguments>();
  command.add_option("GRAPH", arguments->first, "Path or store id")->required();
  command.add_option("OTHER", arguments->second, "Path or store id")->required();
  command.add_flag("--side-by-side,-y", arguments->sideBySide,
                   "Two columns as wide as the terminal: < removed, > added, | changed, ~ renamed or moved");
  line.onRun(command, [arguments](Context& context) { return runDiff(context, *arguments); });
}

}  // namespace kerf::cli
