// kerf minify GRAPH: cuts a failing graph down to the smallest that fails in the same way.
#include <cstdio>

#include "app/cli/commands.h"
#include "app/cli/minify_graph.h"
#include "app/cli/progress.h"
#include "app/cli/symbols.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

struct MinifyArguments {
  std::string graph, progress = "text", output;
  double timeout = 10;
  bool judge = false;
  std::vector<std::string> symbols;
  MinifySettings settings;
};

constexpr std::string_view verdictNames[] = {"passes", "fails", "fails_differently", "cannot_test"};
constexpr int exitStopped = 3;

double milliseconds(std::chrono::nanoseconds time) { return double(time.count()) / 1e6; }

Json eventJson(const MinifyProgress& progress, const std::string& reductionId) {
  const auto& step = progress.step;
  return {{"event", step.accepted ? "step" : "test"},
          {"reduction_id", reductionId},
          {"reduction", step.reduction},
          {"accepted", step.accepted},
          {"nodes", step.size.nodes},
          {"input_bytes", step.size.inputBytes},
          {"outputs", step.size.outputs},
          {"start", progress.start.nodes},
          {"best", progress.best.nodes},
          {"tests", step.test},
          {"elapsed_ms", milliseconds(step.elapsed)},
          {"eta_ms", progress.secondsLeft < 0 ? Json() : Json(progress.secondsLeft * 1000)},
          {"fingerprint", step.fingerprint}};
}

Json outcomeJson(const MinifyOutcome& outcome) {
  return {{"reduction_id", outcome.reductionId},
          {"repro_id", outcome.reproId},
          {"repro", outcome.repro.string()},
          {"start", outcome.startNodes},
          {"nodes", outcome.nodes},
          {"best", outcome.nodes},
          {"tests", outcome.tests},
          {"cache_hits", outcome.cacheHits},
          {"steps", outcome.steps},
          {"fingerprint", outcome.fingerprint},
          {"rechecked", outcome.rechecked},
          {"one_minimal", outcome.oneMinimal},
          {"cancelled", outcome.cancelled},
          {"resumed", outcome.resumed},
          {"elapsed_ms", milliseconds(outcome.time)}};
}

void printLine(const Json& object) {
  fmt::print("{}\n", object.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);
}

std::string progressText(const MinifyProgress& progress) {
  const auto left = timeToGo(progress.secondsLeft);
  return fmt::format("minify: {} nodes now, {} tests, best {} of {}, {}{}{}", progress.step.size.nodes,
                     progress.step.test, progress.best.nodes, progress.start.nodes, durationText(progress.step.elapsed),
                     left.empty() ? "" : ", ", left);
}

MinifyEvents eventsFor(const Context& context, bool asJson, Progress& progress) {
  if (asJson) {
    return {[](const MinifyProgress& step, const std::string& id) { printLine(eventJson(step, id)); },
            [](const std::string& text) { fmt::print(stderr, "{}\n", text); }};
  }
  return {[&progress, json = context.json](const MinifyProgress& step, const std::string&) {
            if (!json) progress.show(progressText(step));
          },
          [&progress](const std::string& text) {
            progress.finish();
            fmt::print(stderr, "{}\n", text);
          }};
}

void printOutcome(const MinifyOutcome& outcome) {
  if (outcome.cancelled) {
    fmt::print("stopped at {} of {} nodes after {} tests, {}\n", outcome.nodes, outcome.startNodes, outcome.tests,
               durationText(outcome.time));
    fmt::print("everything accepted is kept as {}: run the same command again to go on, or `kerf export {} -o DIR`\n",
               outcome.reductionId, outcome.reductionId);
    return;
  }
  fmt::print("{} -> {} nodes, {} tests, {} accepted, {} answered from the cache, {}\n", outcome.startNodes,
             outcome.nodes, outcome.tests, outcome.steps, outcome.cacheHits, durationText(outcome.time));
  fmt::print("fails with   {}\n", outcome.fingerprint);
  fmt::print("minimal      {}\n", outcome.oneMinimal ? "no single node can be left out" : "not proven");
  fmt::print("stored as    {} ({})\n", outcome.reproId, outcome.reductionId);
  fmt::print("written to   {}\n", outcome.repro.string());
  if (!outcome.rechecked.empty()) fmt::print("checked      imports and fails in the same way in a fresh process\n");
}

Result<int> runJudge(Context& context, GraphSource& source, const MinifyArguments& arguments) {
  KERF_TRY(const auto verdict, judgeGraph(context, source, arguments.settings.oracle));
  const auto name = verdictNames[std::size_t(verdict.kind)];
  if (context.json) {
    printJson({{"graph", arguments.graph},
               {"verdict", name},
               {"fingerprint", verdict.fingerprint},
               {"detail", verdict.detail},
               {"elapsed_ms", milliseconds(verdict.time)}});
  } else {
    fmt::print("{}{}{}\n", name, verdict.fingerprint.empty() ? "" : ": " + verdict.fingerprint,
               verdict.detail.empty() ? "" : " (" + verdict.detail + ")");
  }
  if (verdict.kind == VerdictKind::CannotTest) return 2;
  return verdict.kind == VerdictKind::Passes ? 0 : 1;
}

Result<int> runMinify(Context& context, MinifyArguments arguments) {
  arguments.settings.oracle.timeout = std::chrono::milliseconds(std::int64_t(arguments.timeout * 1000));
  arguments.settings.output = arguments.output;
  KERF_TRY(auto source, resolveGraph(context, arguments.graph, arguments.symbols));
  if (arguments.judge) return runJudge(context, source, arguments);
  const bool events = arguments.progress == "json";
  Progress progress;
  KERF_TRY(const auto outcome, minifyGraph(context, source, arguments.settings, eventsFor(context, events, progress)));
  progress.finish();
  if (events) {
    Json done{{"event", "done"}};
    done.update(outcomeJson(outcome));
    printLine(done);
  } else if (context.json) {
    printJson(outcomeJson(outcome));
  } else {
    printOutcome(outcome);
  }
  return outcome.cancelled ? exitStopped : 0;
}

void addOracleOptions(CLI::App& command, MinifyArguments& arguments) {
  auto& oracle = arguments.settings.oracle;
  command.add_option("--oracle", oracle.oracle, "Who says whether a graph still fails: engine, command or torch")
      ->check(CLI::IsMember({"engine", "command", "torch"}))
      ->capture_default_str();
  command.add_option("--plant", oracle.plants, "engine: plant a fault in the compiled side, as for `kerf compare`")
      ->type_name("FAULT")
      ->allow_extra_args(false);
  command.add_option("--tol", oracle.tolerance, "engine: tolerance of same()")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  addPassOptions(command, oracle.passes);
  command
      .add_option("--check", oracle.check,
                  "command: run with the candidate's repro.py as its last argument; exit 0 "
                  "good, 125 cannot be tested, anything else (or a signal) bad")
      ->type_name("CMD");
  command.add_option("--python", oracle.python, "torch: the Python that has PyTorch")
      ->type_name("EXE")
      ->capture_default_str();
  command.add_option("--timeout", arguments.timeout, "Seconds one candidate may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace

void addMinify(CommandLine& line) {
  auto& command = line.add("minify", "Cut a failing graph down to the smallest that fails in the same way",
                           "  kerf minify minifier_launcher.py --plant relu=accuracy -o small\n"
                           "  kerf minify c3/g1 --oracle command --check ./still-fails.sh\n"
                           "  kerf minify small/repro.py --plant relu=accuracy --judge");
  auto arguments = std::make_shared<MinifyArguments>();
  command.add_option("GRAPH", arguments->graph, "Path or store id")->required();
  addOracleOptions(command, *arguments);
  command.add_option("--jobs", arguments->settings.jobs, "Candidates judged at once")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--votes", arguments->settings.votes, "Queries per candidate; the majority decides")
      ->check(CLI::Range(1, 99))
      ->capture_default_str();
  command.add_option("-o,--output", arguments->output, "Folder for repro.py and storages/ (default kerf-repro-m<id>)")
      ->type_name("DIR");
  command.add_option("--progress", arguments->progress, "text on stderr, or json: one object a line on stdout")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command.add_flag("--judge", arguments->judge, "Only judge the graph as it is: exit 0 if it passes, 1 if it fails");
  addSymbolOption(command, arguments->symbols);
  line.onRun(command, [arguments](Context& context) { return runMinify(context, *arguments); });
}

}  // namespace kerf::cli
