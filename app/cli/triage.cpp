// kerf triage PATH…: which of many failing captures are one bug, each with its smallest repro, in one report.
#include <algorithm>

#include <fmt/ranges.h>

#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/oracle_options.h"
#include "app/cli/text_table.h"
#include "app/cli/usual_jobs.h"

namespace kerf::cli {

namespace {

using State = TriageRow::State;

constexpr int exitOfStopped = 3;

std::int64_t countOf(const Triage& triage, State state) {
  return std::ranges::count(triage.rows, state, &TriageRow::state);
}

Json triageJson(const Triage& triage) {
  Json json{{"failing", countOf(triage, State::Fails)},
            {"passing", countOf(triage, State::Passes)},
            {"failing_differently", countOf(triage, State::FailsDifferently)}};
  json.update(jsonOf(triage));
  return json;
}

void printTriage(const Triage& triage) {
  TextTable table({"cluster", "graphs", "fails with", "culprit", "ops", "repro"});
  for (const auto& cluster : triage.clusters)
    table.add({fmt::format("{}", cluster.number), fmt::format("{}", cluster.members.size()), cluster.fingerprint,
               fmt::format("{}", fmt::join(cluster.culprits, ", ")), fmt::format("{}", fmt::join(cluster.ops, ", ")),
               cluster.repro});
  if (!triage.clusters.empty()) fmt::print("{}", table.text());
  fmt::print("{} fail, {} pass, {} cannot be tested, {} not opened{}, {}\n", countOf(triage, State::Fails),
             countOf(triage, State::Passes), countOf(triage, State::CannotTest), countOf(triage, State::NotOpened),
             triage.cancelled ? fmt::format(", {} not reached", countOf(triage, State::NotReached)) : "",
             durationText(triage.time));
  if (const auto other = countOf(triage, State::FailsDifferently); other > 0)
    fmt::print("{} fail in another way than --match asks for\n", other);
  fmt::print("report       {}\n", triage.report);
  if (triage.cancelled) fmt::print("stopped: the same command goes on with the verdicts that the store has\n");
}

Result<int> runTriage(Context& context, const TriageRequest& request) {
  KERF_TRY(const auto triage, context.perform(request));
  if (context.json)
    printJson(triageJson(triage));
  else
    printTriage(triage);
  if (triage.cancelled) return exitOfStopped;
  return countOf(triage, State::Fails) > 0 ? 1 : 0;
}

}  // namespace

void addTriage(CommandLine& line) {
  auto& command = line.add("triage", "Test, minify and bisect many captures, and group the failures by bug",
                           "  kerf triage failures/ --oracle torch -o report\n"
                           "  kerf triage a/repro.py b/trace.log c3 --plant relu=accuracy --max-time 5m\n"
                           "  kerf triage failures/ --oracle command --check ./still-fails.sh --max-tests 200 --json");
  auto request = std::make_shared<TriageRequest>();
  command.add_option("PATH", request->paths, "Files, folders or store ids. A folder stands for everything in it")
      ->required();
  addOracleOptions(command, request->oracle);
  request->jobs = usualJobs();
  command.add_option("--jobs", request->jobs, "Number of candidates to test at once (default: by cores and memory)")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  addLimitOptions(command, request->maxTests, request->maxTime);
  command
      .add_option("--match", request->match,
                  "Count only failures whose fingerprint or detail matches this regular expression")
      ->type_name("REGEX");
  addFlakyOption(command, request->flaky);
  command.add_flag("--fresh", request->fresh, "Do not use the results of earlier runs");
  command.add_option("-o,--output", request->output, "Folder for report.html, report.txt and the clusters")
      ->type_name("DIR")
      ->capture_default_str();
  line.onRun(command, [request](Context& context) { return runTriage(context, *request); });
}

}  // namespace kerf::cli
