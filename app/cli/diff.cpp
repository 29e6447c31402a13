// kerf diff GRAPH GRAPH: what became of the nodes of one graph in another; of two captures, what differs between the
// compilations; with --follow, the life of one node in a capture.
#include "app/cli/commands.h"
#include "app/cli/diff_report.h"
#include "app/cli/diff_reports.h"
#include "app/cli/json_forms.h"
#include "app/cli/terminal.h"

namespace kerf::cli {

namespace {

struct DiffArguments {
  DiffRequest request;
  std::string follow;
  DiffDetail detail;
  bool sideBySide = false;
};

Result<int> followNode(Context& context, const DiffArguments& arguments) {
  const std::string &first = arguments.request.before.text, &second = arguments.request.after.text;
  KERF_TRY(const auto life, context.perform(NodeLifeRequest{first, arguments.follow}));
  if (second.empty()) {
    if (context.json)
      printJson(jsonOf(life));
    else
      fmt::print("{}", lifeText(life, arguments.detail.all));
    return 0;
  }
  KERF_TRY(const auto other, context.perform(NodeLifeRequest{second, arguments.follow}));
  if (context.json)
    printJson({{"before", jsonOf(life)}, {"after", jsonOf(other)}});
  else
    fmt::print("--- {}\n{}\n+++ {}\n{}", first, lifeText(life, arguments.detail.all), second,
               lifeText(other, arguments.detail.all));
  return 0;
}

Result<int> diffCaptures(Context& context, const DiffArguments& arguments) {
  const CaptureDiffRequest request{arguments.request.before.text, arguments.request.after.text};
  KERF_TRY(const auto difference, context.perform(request));
  if (context.json)
    printJson(captureDifferenceJson(difference));
  else
    fmt::print("{}", captureDifferenceText(difference, request.before, request.after, arguments.detail.all));
  return difference.same ? 0 : 1;
}

Result<int> runDiff(Context& context, const DiffArguments& arguments) {
  if (!arguments.follow.empty()) return followNode(context, arguments);
  const auto& request = arguments.request;
  if (request.after.text.empty())
    return fail(ErrorCode::BadUsage, "a graph to compare with {} is missing", request.before.text);
  KERF_TRY(const auto first, context.perform(LocateRequest{request.before.text}));
  KERF_TRY(const auto second, context.perform(LocateRequest{request.after.text}));
  const auto whole = LocateRequest::Place::Capture;
  if (first == whole && second == whole) return diffCaptures(context, arguments);
  KERF_TRY(const auto difference, context.perform(request));
  if (context.json)
    printJson(differenceJson(difference));
  else if (arguments.sideBySide)
    printTrusted(stdout, sideBySide(difference, terminalWidth(), coloured(stdout)));
  else
    fmt::print("{}", differenceText(difference, request.before.text, request.after.text, arguments.detail));
  return difference.same ? 0 : 1;
}

}  // namespace

void addDiff(CommandLine& line) {
  auto& command =
      line.add("diff", "Compare two graphs node by node, or two captures (exit 1 if they differ)",
               "  kerf diff c3/g1 c3/g1@pass:cse\n"
               "  kerf diff trace.log#before_post_grad_graph trace.log#after_post_grad_graph --side-by-side\n"
               "  kerf diff repro.py small/repro.py --json\n"
               "  kerf diff yesterday.log today.log\n"
               "  kerf diff trace.log#dynamo_output_graph --follow layer_norm");
  auto arguments = std::make_shared<DiffArguments>();
  command.add_option("GRAPH", arguments->request.before.text, "Path or store id of a graph or a capture")->required();
  command.add_option("OTHER", arguments->request.after.text, "Path or store id of a graph or a capture");
  command
      .add_option("--follow", arguments->follow,
                  "Follow this node through all stages, from Dynamo to the output code. OTHER is optional")
      ->type_name("NODE");
  command.add_flag("--side-by-side,-y", arguments->sideBySide,
                   "Print two columns: < removed, > added, | changed, * rewritten, ~ renamed or moved");
  command.add_flag("--all", arguments->detail.all,
                   "List every node, guard, kernel and figure, not only the first ones");
  command.add_flag("--unified", arguments->detail.unified,
                   "Print the unified diff of the graph texts too, whatever its length");
  line.onRun(command, [arguments](Context& context) { return runDiff(context, *arguments); });
}

}  // namespace kerf::cli
