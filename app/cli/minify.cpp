// kerf minify GRAPH: cuts a failing graph down to the smallest that fails in the same way.
#include <algorithm>

#include "app/cli/bits_report.h"
#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/oracle_options.h"
#include "app/cli/rank_runs.h"
#include "app/cli/text_table.h"
#include "app/cli/usual_jobs.h"

namespace kerf::cli {

namespace {

struct MinifyArguments {
  MinifyRequest request;
  std::string progress = "text";
  bool judge = false;
  std::string against;  ///< of a folder of ranks
  std::shared_ptr<RankPlacing> placing;
};

constexpr int exitStopped = 3;

Json eventJson(const MinifyEvent& event) {
  Json json{{"event", event.accepted ? "step" : "test"}};
  json.update(jsonOf(event));
  return json;
}

std::string progressText(const MinifyEvent& event) {
  const auto left = timeToGo(event.secondsLeft);
  const auto slips =
      event.slips == 0 ? std::string() : fmt::format(", {} slip{}", event.slips, event.slips == 1 ? "" : "s");
  return fmt::format("minify: {} nodes now, {} tests{}, best {} of {}, {}{}{}", event.nodes, event.tests, slips,
                     event.bestNodes, event.startNodes, durationText(event.elapsed), left.empty() ? "" : ", ", left);
}

void printFindings(const Minified& minified) {
  std::string_view which = "a second";
  for (const auto& slip : minified.findings) {
    fmt::print("{} bug was found: {} ({} nodes): {}\n", which, slip.id, slip.nodes, slip.fingerprint);
    which = "another";
  }
}

std::string minimalText(const Minified& minified) {
  if (minified.oneMinimal) return fmt::format("none of {} kinds of edits makes it smaller", minified.editSet.size());
  if (!minified.stoppedBy.empty()) return fmt::format("not proven: the search was stopped by {}", minified.stoppedBy);
  if (minified.lostEdits == 0) return "not proven";
  return fmt::format("not proven: Kerf failed to build {} edits", minified.lostEdits);
}

void printMinified(const Minified& minified) {
  if (minified.cancelled) {
    fmt::print("stopped at {} of {} nodes after {} tests, {}\n", minified.nodes, minified.startNodes, minified.tests,
               durationText(minified.time));
    fmt::print(
        "the best graph so far is stored as {}: run the same command again to go on, or `kerf export {} -o DIR`\n",
        minified.reductionId, minified.reductionId);
    printFindings(minified);
    return;
  }
  fmt::print("{} -> {} nodes, {} tests, {} accepted, {} answered from the cache, {}\n", minified.startNodes,
             minified.nodes, minified.tests, minified.steps, minified.cacheHits, durationText(minified.time));
  fmt::print("fails with   {}\n", minified.fingerprint);
  if (minified.startedAs != minified.fingerprint)
    fmt::print("at first     {}; counts as the same: {}\n", minified.startedAs, minified.matchRule);
  fmt::print("minimal      {}\n", minimalText(minified));
  if (minified.passesAsked > 1)
    fmt::print("flaky        failed in {:.0f} % of the first runs; a graph passes after {} runs without a failure\n",
               minified.failureRate * 100, minified.passesAsked);
  if (!minified.reproId.empty()) fmt::print("stored as    {} ({})\n", minified.reproId, minified.reductionId);
  fmt::print("written to   {}\n", minified.repro);
  if (!minified.torchSays.empty()) fmt::print("run again    {}\n", minified.torchSays);
  if (!minified.rechecked.empty()) fmt::print("checked      imports and fails in the same way in a fresh process\n");
  printFindings(minified);
}

Result<int> runJudge(Context& context, const MinifyArguments& arguments) {
  using Verdict = JudgeAnswer::Verdict;
  const auto& request = arguments.request;
  KERF_TRY(const auto answer, context.perform(JudgeRequest{request.graph, request.oracle, request.match}));
  const auto name = verdictNames[std::size_t(answer.verdict)];
  if (context.json) {
    Json json{{"graph", request.graph.text}};
    json.update(jsonOf(answer));
    printJson(json);
  } else {
    fmt::print("{}{}{}\n", name, answer.fingerprint.empty() ? "" : ": " + answer.fingerprint,
               answer.detail.empty() ? "" : " (" + answer.detail + ")");
  }
  if (answer.verdict == Verdict::CannotTest) return 2;
  return answer.verdict == Verdict::Passes ? 0 : 1;
}

/// Kernels of the smallest graph, where equality of bits is the verdict and Kerf's engine judges.
std::vector<KernelBits> bitsOfSmallest(Context& context, const MinifyRequest& request, const Minified& minified) {
  const OracleSettings& oracle = request.oracle;
  if (!oracle.accuracy.exact || oracle.oracle != "engine" || minified.repro.empty()) return {};
  BitsRequest bits;
  bits.graph.text = minified.repro;
  bits.own = true;
  if (!oracle.torchBackend.empty()) bits.backend = oracle.torchBackend;
  bits.passes = oracle.passes;
  return kernelBitsOf(context, bits);
}

/// "--max-tests" of "max_tests".
std::string optionOfLimit(std::string limit) {
  std::ranges::replace(limit, '_', '-');
  return limit.empty() ? limit : "--" + limit;
}

/// A folder with a file for each rank: one search for all of them.
Result<int> minifyEachRank(Context& context, const MinifyRequest& request, const std::string& against,
                           const RankPlacing& placing) {
  if (request.oracle.oracle != "engine" || !request.oracle.passes.usual())
    return fail(ErrorCode::BadUsage, "ranks are minified by Kerf's own engine, without passes");
  MinifyRanksRequest ranks{.graph = request.graph};
  ranks.plants = request.oracle.plants;
  ranks.tolerance = request.oracle.tolerance;
  ranks.timeout = request.oracle.timeout;
  if (!request.output.empty()) ranks.output = request.output;
  ranks.against = against;
  KERF_CHECK(placing.takeInto(ranks));
  return minifyOnRanks(context, ranks);
}

Result<int> runMinify(Context& context, const MinifyArguments& arguments) {
  KERF_TRY(const bool isOfRanks, meansRanks(context, arguments.request.graph.text));
  if (isOfRanks) return minifyEachRank(context, arguments.request, arguments.against, *arguments.placing);
  if (!arguments.against.empty())
    return fail(ErrorCode::BadUsage, "{} is no folder of ranks: one graph is minified by itself",
                arguments.request.graph.text);
  if (arguments.judge) return runJudge(context, arguments);
  const bool events = arguments.progress == "json";
  Progress progress;
  const auto show = [&](const JobEvent& event) {
    if (const auto* work = std::get_if<MinifyWorkEvent>(&event); work && events) printJsonLine(workEventJson(*work));
    const auto* step = std::get_if<MinifyEvent>(&event);
    if (step == nullptr) return;
    if (events)
      printJsonLine(eventJson(*step));
    else if (!context.json)
      progress.show(progressText(*step));
  };
  KERF_TRY(auto minified, context.bench().perform(arguments.request, context.job(progress, show)));
  progress.finish();
  minified.stoppedBy = optionOfLimit(minified.stoppedBy);
  const auto kernels = bitsOfSmallest(context, arguments.request, minified);
  if (events) {
    Json done{{"event", "done"}};
    done.update(jsonOf(minified));
    printJsonLine(done);
  } else if (context.json) {
    Json answer = jsonOf(minified);
    if (arguments.request.oracle.accuracy.exact) answer["kernels"] = kernelBitsJson(kernels);
    printJson(answer);
  } else {
    printMinified(minified);
    fmt::print("{}", kernelBitsText(kernels, true));
  }
  return minified.cancelled ? exitStopped : 0;
}

}  // namespace

void addMinify(CommandLine& line) {
  auto& command = line.add("minify", "Reduce a failing graph to the smallest one that fails in the same way",
                           "  kerf minify minifier_launcher.py --plant relu=accuracy -o small\n"
                           "  kerf minify c3/g1 --oracle command --check ./still-fails.sh\n"
                           "  kerf minify small/repro.py --plant relu=accuracy --judge\n"
                           "  kerf minify ranks -o small\n"
                           "  kerf minify ranks --against whole.py -o small");
  auto arguments = std::make_shared<MinifyArguments>();
  auto& request = arguments->request;
  command.add_option("GRAPH", request.graph.text, "Path or store id, or a folder with rank0.py, rank1.py, …")
      ->required();
  addOracleOptions(command, request.oracle);
  command
      .add_option("--against", arguments->against,
                  "Of a folder of ranks: keep that they differ from this graph of one rank, which is cut as they are")
      ->type_name("GRAPH");
  arguments->placing = addRankPlacing(command);
  request.jobs = usualJobs();
  command.add_option("--jobs", request.jobs, "Number of candidates to test at once (default: by cores and memory)")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--votes", request.votes, "Test each candidate this often; the majority decides")
      ->check(CLI::Range(1, 99))
      ->capture_default_str();
  command
      .add_option("--match", request.match,
                  "Count only failures whose fingerprint or detail matches this regular expression, instead of "
                  "failures like the first one")
      ->type_name("REGEX");
  command.add_flag("--any-failure", request.anyFailure, "Count every failure, not only failures like the first one");
  command.add_flag("--fresh", request.fresh, "Start again, and do not use the results of earlier runs");
  addSearchOptions(command, request);
  command.add_option("-o,--output", request.output, "Folder for repro.py and storages/ (default: kerf-repro-m<id>)")
      ->type_name("DIR");
  command
      .add_option("--checkpoints", request.checkpoints,
                  "Write the launcher, every accepted graph and the best one to DIR, in PyTorch's folder layout")
      ->type_name("DIR");
  command.add_flag("--confirm", request.confirm, "Run the written repro with PyTorch (--python) and report the result");
  command.add_option("--progress", arguments->progress, "text: on stderr; json: one object per line on stdout")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command.add_flag("--judge", arguments->judge, "Only test the graph as it is: exit 0 if it passes, 1 if it fails");
  addInputOptions(command, request.graph);
  addSymbolOption(command, request.graph.symbols);
  line.onRun(command, [arguments](Context& context) { return runMinify(context, *arguments); });
}

}  // namespace kerf::cli
