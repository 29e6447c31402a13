// kerf patterns GRAPH: which of the shipped patterns, or of a file's, match a graph, and why one does not.
#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/output_file.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

struct PatternsOptions {
  PatternsRequest request;
  std::string output = "resources/patterns/attention.graphs";
};

Json reportJson(const PatternsReport& report) {
  return {{"matches", jsonOf(report.matches)}, {"near_misses", jsonOf(report.misses)}};
}

void printMatches(const PatternsReport& report) {
  if (report.matches.empty()) {
    fmt::print("no pattern matches\n");
    return;
  }
  TextTable table({"pattern", "result", "calls", "arguments"});
  for (const PatternMatchDoc& match : report.matches) {
    std::vector<std::string> arguments;
    for (const auto& [name, value] : match.arguments) arguments.push_back(fmt::format("{}={}", name, value));
    table.add({match.pattern, match.result, std::to_string(match.nodes.size()),
               fmt::format("{}", fmt::join(arguments, ", "))});
  }
  fmt::print("{}", table.text());
}

void printWhy(const PatternsReport& report, const std::string& pattern) {
  if (report.misses.empty()) fmt::print("{} matches wherever its result's op is called\n", pattern);
  for (const NearMissDoc& miss : report.misses) {
    if (miss.result.empty())
      fmt::print("{} does not match: {}\n", miss.pattern, miss.reason);
    else
      fmt::print("{} came nearest at {}: {} of its {} calls fit, then\n  {}\n", miss.pattern, miss.result, miss.matched,
                 miss.calls, miss.reason);
  }
}

void printPatterns(const PatternsReport& report, bool json) {
  if (!json) {
    TextTable table({"pattern", "what it matches"});
    for (const auto& [name, description] : report.patterns) table.add({name, description});
    fmt::print("{}", table.text());
    return;
  }
  Json patterns = Json::array();
  for (const auto& [name, description] : report.patterns)
    patterns.push_back({{"name", name}, {"description", description}});
  printJson({{"patterns", std::move(patterns)}});
}

Result<int> runPatterns(Context& context, const PatternsOptions& options) {
  const PatternsRequest& request = options.request;
  if (request.graph.text.empty() && !request.why.empty())
    return fail(ErrorCode::BadUsage, "--why needs a graph: kerf patterns GRAPH --why {}", request.why);
  KERF_TRY(const PatternsReport report, context.perform(request));
  if (request.regenerate) {
    KERF_CHECK(emit(report.generated, options.output, EmitKind::Text));
    return 0;
  }
  if (request.graph.text.empty()) {
    printPatterns(report, context.json);
    return 0;
  }
  if (context.json) {
    printJson(reportJson(report));
    return 0;
  }
  printMatches(report);
  if (!request.why.empty()) printWhy(report, request.why);
  return 0;
}

}  // namespace

void addPatterns(CommandLine& line) {
  auto& command =
      line.add("patterns", "Find patterns in a graph (attention, layers, your own), and explain why one does not match",
               "  kerf patterns\n"
               "  kerf patterns trace.log#aot_joint_graph\n"
               "  kerf patterns model.pt2@stage:joint/inductor --why sfdp_pattern_1_training\n"
               "  kerf patterns model.pt2@stage:joint/inductor --patterns mine.txt\n"
               "  kerf patterns --regenerate -o resources/patterns/attention.graphs");
  auto options = std::make_shared<PatternsOptions>();
  command.add_option("GRAPH", options->request.graph.text,
                     "Path or store id of an ATen graph. Without it, list the patterns");
  command.add_option("--why", options->request.why, "Show where this pattern nearly matches, and what prevents it")
      ->type_name("PATTERN");
  command
      .add_option("--patterns", options->request.file,
                  "Match the patterns of this file (pairs of a search and a replacement graph) instead of the "
                  "built-in ones")
      ->type_name("FILE");
  command.add_flag("--regenerate", options->request.regenerate,
                   "Trace all patterns again and write the file with their traces");
  command.add_option("-o,--output", options->output, "File that --regenerate writes")
      ->type_name("FILE")
      ->capture_default_str();
  line.onRun(command, [options](Context& context) { return runPatterns(context, *options); });
}

}  // namespace kerf::cli
