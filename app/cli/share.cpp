// kerf share CAPTURE -o x.html: one page to attach, with the data in it.
#include "app/workbench/share/share.h"
#include "app/cli/commands.h"
#include "app/cli/json_of.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

struct RedactionName {
  std::string_view name;
  bool Redaction::* field;
};
constexpr RedactionName redactions[] = {
    {"paths", &Redaction::paths}, {"weights", &Redaction::weights}, {"code", &Redaction::code}};

Result<int> runShare(Context& context, const ShareRequest& request) {
  Progress progress;
  KERF_TRY(const auto shared, share(context.bench(), request, context.job(progress, {})));
  progress.finish();
  if (context.json) {
    printJson(jsonOf(shared));
    return 0;
  }
  fmt::print("{}  {}, {}, {:.1f} MB\n", shared.path, counted(shared.graphs, "graph"), counted(shared.files, "file"),
             double(shared.bytes) / 1e6);
  for (const auto& row : shared.removed) fmt::print("taken out: {}\n", row);
  for (const auto& note : shared.notes) fmt::print("note: {}\n", note);
  return 0;
}

}  // namespace

void addShare(CommandLine& line) {
  auto& command = line.add("share", "Write one HTML page with a capture, a reduction or a report in it",
                           "  kerf share trace.log -o trace.kerf.html\n"
                           "  kerf share m2 -o small.kerf.html --redact paths,weights\n"
                           "  kerf share train-check -o report.kerf.html --redact paths,code");
  command.footer(
      command.get_footer() +
      "\n\nThe page loads nothing, runs in any browser, and opens in Kerf again: kerf show, kerf import, kerf studio."
      "\n--redact takes out: paths (folders and names of users), weights (stored tensors and recorded values),"
      "\ncode (lines of your source). Names of modules and shapes stay: read the page before you attach it.");
  auto request = std::make_shared<ShareRequest>();
  auto redact = std::make_shared<std::vector<std::string>>();
  command.add_option("CAPTURE", request->what, "A file, a folder (of logs, a check, a recording), or c3, c3/g1, m2")
      ->required();
  command.add_option("-o,--output", request->place, "The page to write")->type_name("FILE")->required();
  command.add_option("--redact", *redact, "What to take out, with commas between")
      ->delimiter(',')
      ->check(CLI::IsMember({"paths", "weights", "code"}));
  line.onRun(command, [request, redact](Context& context) {
    for (const auto& row : redactions)
      request->redaction.*row.field = std::ranges::find(*redact, row.name) != redact->end();
    return runShare(context, *request);
  });
}

}  // namespace kerf::cli
