// kerf passes GRAPH: what each pass did: nodes before and after, time, changed or not, and the graphs themselves;
// without a graph, which passes there are.
#include <algorithm>

#include <fmt/ranges.h>

#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/pass_check.h"
#include "app/cli/pass_table.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

struct PassesOptions {
  PassesRequest request;
  PassCheckChoice check;
  bool onlyChanged = false;

  bool shows(const PassDoc& pass) const { return !onlyChanged || pass.changed; }
};

bool dumps(const PassTrace& trace, const PassDoc& pass) {
  return trace.dumpAfter == "all" || trace.dumpAfter == pass.name;
}

std::string textAfter(const PassTrace& trace, const PassDoc& pass) {
  const auto found = std::ranges::find(trace.snapshots, pass.hashAfter, &SnapshotDoc::hash);
  return found == trace.snapshots.end() ? std::string() : found->text;
}

Json passJson(const PassTrace& trace, const PassDoc& pass, bool withGraph) {
  Json object = jsonOf(pass);
  if (withGraph) object["graph"] = textAfter(trace, pass);
  return object;
}

void printTrace(const PassTrace& trace, const PassesOptions& options) {
  fmt::print("{}", passTable(trace.passes, options.onlyChanged ? PassRows::Changed : PassRows::All));
  for (const auto& pass : trace.passes)
    if (dumps(trace, pass) && options.shows(pass))
      fmt::print("\n# after {}{}{}\n{}\n", pass.part.empty() ? "" : pass.part + " ", pass.name,
                 pass.nestedGraph.empty() ? "" : " in " + pass.nestedGraph, textAfter(trace, pass));
  if (!trace.failure.empty()) fmt::print("the later stages are missing: {}\n", trace.failure);
}

int statusOf(const PassTrace& trace) { return trace.check.good() && trace.failure.empty() ? 0 : 1; }

/// Without a graph: what there is.
Result<int> listPasses(Context& context) {
  KERF_TRY(const auto entries, context.perform(PassListRequest()));
  TextTable table({"stage", "pass", "default", "what it does", "why it runs here"});
  for (const PassEntry& pass : entries) table.add({pass.stage, pass.name, pass.usual, pass.description, pass.place});
  if (context.json)
    printJson({{"passes", jsonOf(entries)}});
  else
    fmt::print("{}", table.text());
  return 0;
}

Result<int> runPasses(Context& context, PassesOptions options) {
  KERF_CHECK(takeNumericCheck(options.request.passes, options.check));
  if (options.request.graph.text.empty()) {
    const bool asksMore = !options.request.dumpAfter.empty() || options.onlyChanged || options.check.asked() ||
                          !options.request.passes.usual();
    if (!asksMore) return listPasses(context);
    return fail(ErrorCode::BadUsage, "what passes do needs a graph: kerf passes GRAPH; alone, kerf passes lists them");
  }
  const std::string dumpAfter = options.request.dumpAfter;
  options.request = checkRequest(options.request.graph, options.request.passes, options.check);
  options.request.dumpAfter = dumpAfter;
  KERF_TRY(const auto trace, context.perform(options.request));
  if (!context.json) {
    printTrace(trace, options);
    printPassCheck(trace.check);
    return statusOf(trace);
  }
  Json passes = Json::array();
  for (const auto& pass : trace.passes)
    if (options.shows(pass)) passes.push_back(passJson(trace, pass, dumps(trace, pass)));
  Json settings = Json::object();
  for (const auto& option : trace.options) settings[option.pass + "." + option.option] = jsonOf(option);
  Json answer{{"graph", options.request.graph.text}, {"run", orNull(trace.run)},         {"config", trace.config},
              {"options", std::move(settings)},      {"failure", orNull(trace.failure)}, {"passes", std::move(passes)}};
  if (trace.check.asked) answer["check"] = jsonOf(trace.check);
  printJson(answer);
  return statusOf(trace);
}

}  // namespace

void addPasses(CommandLine& line) {
  auto& command =
      line.add("passes", "Run the compiler's passes and list what each one changed",
               "  kerf passes\n"
               "  kerf passes repro.py\n"
               "  kerf passes repro.py --passes constant_folding,cse,dce,cse --config constant_folding.max_bytes=1024\n"
               "  kerf passes c3/g1 --only-changed --dump-after all\n"
               "  kerf passes repro.py --check-passes");
  auto options = std::make_shared<PassesOptions>();
  command.add_option("GRAPH", options->request.graph.text, "Path or store id. Without it, list the passes");
  command
      .add_option("--dump-after", options->request.dumpAfter, "Print the graph after this pass, or after all passes")
      ->type_name("PASS|all");
  command.add_flag("--only-changed", options->onlyChanged, "Leave out passes that changed nothing");
  addTrainOptions(command, options->request.graph, "Compile for training: the joint graph of forward and backward",
                  "inductor");
  addCheckedPassOptions(command, options->request.passes, options->check);
  addSymbolOption(command, options->request.graph.symbols);
  line.onRun(command, [options](Context& context) { return runPasses(context, *options); });
}

}  // namespace kerf::cli
