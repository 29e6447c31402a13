// kerf align A B: two recordings of runs, and the first step with equal inputs and unequal results.
#include "app/cli/align_report.h"
#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/terminal.h"

namespace kerf::cli {

namespace {

struct AlignChoice {
  AlignRequest request;
  bool exact = false;
};

Result<int> runAlign(Context& context, AlignChoice choice) {
  choice.request.all = choice.request.all && context.json;
  KERF_TRY(const AlignDoc doc, context.perform(choice.request));
  if (context.json)
    printJson(jsonOf(doc));
  else
    fmt::print("{}", alignmentText(doc, choice.exact));
  if (doc.verdict == "unknown") return 2;
  return doc.verdict == "different" || (choice.exact && doc.verdict == "rounding") ? 1 : 0;
}

}  // namespace

void addAlign(CommandLine& line) {
  auto& command =
      line.add("align", "Align two recordings of runs: the first step that is wrong (exit 1 if there is one)",
               "  kerf align eager.json compiled.json\n"
               "  kerf align run                             # both sides of a folder of kerf record\n"
               "  kerf align monday#compiled tuesday#compiled --exact\n"
               "  kerf align a.safetensors b.safetensors --graph model.pt2");
  auto choice = std::make_shared<AlignChoice>();
  command
      .add_option("A", choice->request.a,
                  "A log of DebugMode (JSON or text), a folder of kerf record, or safetensors of named values")
      ->required();
  command.add_option("B", choice->request.b,
                     "The other recording. Of a folder of kerf record its two sides are aligned without");
  command.add_option("--graph", choice->request.graph, "The graph whose nodes values are named after")
      ->type_name("GRAPH");
  command.add_flag("--exact", choice->exact, "Other bits are a difference, rounding or not");
  command.add_flag("--all", choice->request.all, "With --json: every pair, not only those that matter");
  line.onRun(command, [choice](Context& context) { return runAlign(context, *choice); });
}

}  // namespace kerf::cli
