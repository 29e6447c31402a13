// kerf diff GRAPH GRAPH: what differs in structure, node by node, and as text.
#include "app/cli/commands.h"
#include "app/cli/diff_report.h"
#include "app/cli/terminal.h"

namespace kerf::cli {

namespace {

struct DiffArguments {
  DiffRequest request;
  bool sideBySide = false;
};

Result<int> runDiff(Context& context, const DiffArguments& arguments) {
  const auto& request = arguments.request;
  KERF_TRY(const auto difference, context.perform(request));
  if (context.json)
    printJson(differenceJson(difference));
  else if (arguments.sideBySide)
    printTrusted(stdout, sideBySide(difference, terminalWidth(), coloured(stdout)));
  else
    fmt::print("{}", differenceText(difference, request.before.text, request.after.text));
  return difference.same ? 0 : 1;
}

}  // namespace

void addDiff(CommandLine& line) {
  auto& command =
      line.add("diff", "Structural difference of two graphs (exit 1 if they differ)",
               "  kerf diff c3/g1 c3/g1@pass:cse\n"
               "  kerf diff trace.log#before_post_grad_graph trace.log#after_post_grad_graph --side-by-side\n"
               "  kerf diff repro.py small/repro.py --json");
  auto arguments = std::make_shared<DiffArguments>();
  command.add_option("GRAPH", arguments->request.before.text, "Path or store id")->required();
  command.add_option("OTHER", arguments->request.after.text, "Path or store id")->required();
  command.add_flag("--side-by-side,-y", arguments->sideBySide,
                   "Two columns as wide as the terminal: < removed, > added, | changed, ~ renamed or moved");
  line.onRun(command, [arguments](Context& context) { return runDiff(context, *arguments); });
}

}  // namespace kerf::cli
