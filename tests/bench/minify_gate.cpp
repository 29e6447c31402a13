// minify_gate: 80 seeded cases of needles in graphs of 50 to 2,300 nodes, beside a plain ddmin on the same graphs.
// Prints a table; exit 1 if the minifier finds less than the minimum in more than 5 % of them, or asks more than 1.5
// times as often.
#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "engine/capture/common/capture.h"
#include "engine/support/recordings.h"
#include "tests/support/needle_cases.h"
#include "tests/support/needle_graphs.h"

namespace {

using namespace kerf;
using namespace kerf::testing;

struct GateCase {
  std::string graph;
  NeedleRule rule;
  int needles;
  unsigned seed;
};

constexpr std::string_view ruleNames[] = {"together", "wide", "ordered"};

std::optional<Candidate> recordedGraph(const std::string& name) {
  auto capture = importCapture(recordingsFolder() / name);
  if (!capture || capture->graphs.empty()) return std::nullopt;
  CapturedGraph& graph = capture->graphs.front();
  if (!graph.annotateShapes()) return std::nullopt;
  auto inputs = graph.loadInputs(false, nullptr);
  if (!inputs) return std::nullopt;
  return Candidate{graph.module, std::move(*inputs)};
}

/// "seeded:CALLS:nested" or a recording.
std::optional<Candidate> graphOf(const GateCase& gate) {
  if (!gate.graph.starts_with("seeded:")) return recordedGraph(gate.graph);
  NeedleGraphOptions options{.seed = gate.seed};
  options.calls = std::size_t(std::stoul(gate.graph.substr(7)));
  options.nested = gate.graph.ends_with(":nested");
  options.mutates = gate.seed % 5 == 0;
  return needleGraph(options);
}

std::vector<GateCase> gateCases() {
  static constexpr const char* graphs[] = {"seeded:50",         "golden/gpt2_mini/repro/train_forward.py",
                                           "seeded:300",        "golden/bert_mini/repro/train_backward.py",
                                           "seeded:120:nested", "golden/timm_test_efficientnet/repro/train_backward.py",
                                           "seeded:1000",       "golden/convnext_mini/repro/train_backward.py",
                                           "seeded:600:nested", "seeded:2300"};
  std::vector<GateCase> cases;
  for (unsigned i = 0; i < 80; ++i) {
    const NeedleRule rule = i % 4 == 2 ? NeedleRule::Wide : i % 4 == 3 ? NeedleRule::Ordered : NeedleRule::Together;
    int needles = 1 + int(i / 10) % 4;
    if (rule == NeedleRule::Ordered) needles = std::max(needles, 2);
    cases.push_back({graphs[i % std::size(graphs)], rule, needles, i});
  }
  return cases;
}

struct Row {
  GateCase gate;
  std::size_t start = 0, calls = 0, nodes = 0, truth = 0;
  int tests = 0, plain = 0;
  int sets = 0;  ///< tests of the search over sets of calls and of nested graphs, its proof included
  std::size_t plainCalls = 0;
  double seconds = 0;
  bool oneMinimal = false;
};

bool isSearchOverSets(std::string_view step) {
  constexpr std::string_view steps[] = {"start",         "flatten_graphs", "suspects",      "remove_suffix",
                                        "remove_prefix", "delta",          "leave_one_out", "shorter_way"};
  return std::ranges::find(steps, step) != std::end(steps);
}

std::optional<Row> run(const GateCase& gate) {
  std::optional<Candidate> start = graphOf(gate);
  if (!start) return std::nullopt;
  Row row{.gate = gate, .start = start->module.graph.size()};
  const bool inBody = gate.rule == NeedleRule::Together && gate.graph.ends_with(":nested");
  int needles = inBody && gate.needles == 1
                    ? 0
                    : plantNeedles(start->module.graph, gate.rule, gate.needles - (inBody ? 1 : 0), gate.seed);
  if (inBody) needles += plantNestedNeedle(start->module, needles, gate.seed) ? 1 : 0;
  NeedleOracle oracle(gate.rule, needles);
  row.truth = fewestCalls(start->module.graph, gate.rule, needles);
  const DdminResult plain = plainDdmin(*start, oracle);
  row.plain = plain.tests;
  row.plainCalls = plain.calls;
  MemoryVerdictCache cache;
  const auto began = std::chrono::steady_clock::now();
  MinifyOptions options;
  options.parallelQueries = 1;
  int before = 0;
  const MinifyObserver count = [&](const MinifyProgress& progress, const Candidate*) -> Result<void> {
    if (isSearchOverSets(progress.step.reduction)) row.sets += progress.step.test - before;
    before = progress.step.test;
    return {};
  };
  const auto result = minify(*start, oracle, cache, options, count, {});
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (!result) {
    fmt::print("{}: {}\n", gate.graph, result.error().text());
    return row;
  }
  const CandidateSize size = measure(result->candidate);
  row.calls = size.calls;
  row.nodes = size.nodes;
  row.tests = result->tests;
  row.oneMinimal = result->oneMinimal;
  return row;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string only = count > 1 ? arguments[1] : "";
  fmt::print("{:>3} {:<54} {:<9} {:>2} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8}\n", "#", "graph", "rule",
             "k", "start", "calls", "true", "nodes", "tests", "sets", "ddmin", "calls", "seconds");
  int minimal = 0, cases = 0, slower = 0, number = 0;
  std::int64_t tests = 0, sets = 0, plain = 0;
  for (const GateCase& gate : gateCases()) {
    ++number;
    if (!only.empty() && std::to_string(number) != only && gate.graph.find(only) == std::string::npos) continue;
    const auto row = run(gate);
    if (!row) {
      fmt::print("{:>3} {:<54} not here\n", number, gate.graph);
      continue;
    }
    ++cases;
    minimal += row->calls <= row->truth && row->oneMinimal;
    const bool asksMore = row->sets * 2 > row->plain * 3;
    slower += asksMore;
    sets += row->sets;
    tests += row->tests;
    plain += row->plain;
    fmt::print("{:>3} {:<54} {:<9} {:>2} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8.2f}{}{}\n", number,
               gate.graph, ruleNames[std::size_t(gate.rule)], row->truth, row->start, row->calls, row->truth,
               row->nodes, row->tests, row->sets, row->plain, row->plainCalls, row->seconds,
               row->calls <= row->truth ? "" : "  NOT MINIMAL", asksMore ? "  MORE TESTS" : "");
    std::fflush(stdout);
  }
  fmt::print(
      "{} cases: {} minimal, {} with more than 1.5 times the tests of ddmin; tests: {} in all, {} for sets, ddmin {}\n",
      cases, minimal, slower, tests, sets, plain);
  return minimal * 100 >= cases * 95 && slower == 0 ? 0 : 1;
}
