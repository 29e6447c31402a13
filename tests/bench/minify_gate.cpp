// minify_gate: 80 seeded cases of needles in graphs of 50 to 2,300 nodes, beside a plain ddmin on the same graphs.
// Prints a table; exit 1 unless all of them could be run and in 95 % of them the minifier ends at the fewest calls, at
// the fewest nodes, and with at most 1.5 times the tests, everything counted (a needle that depends on a size takes
// tests that a ddmin over calls does not know of: where the ddmin takes less than 17, those are more than half as
// many); nor may it take more than that in all. An argument chooses cases: a number (then with every test and the
// graph), or a part of a graph's name. `--seed N` before it makes other cases of the same kinds.
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "engine/ir/printer.h"
#include "tests/support/gate_cases.h"

namespace {

using namespace kerf;
using namespace kerf::testing;

struct Row {
  GateCase gate;
  int needles = 0;
  std::size_t start = 0, calls = 0, nodes = 0, fewestCalls = 0, fewestNodes = 0;
  int tests = 0, plain = 0;
  int sets = 0;  ///< tests of the search over sets of calls and of nested graphs, its proof included
  std::size_t plainCalls = 0;
  double seconds = 0;
  bool oneMinimal = false;
  std::vector<std::string> listed;  ///< in order, known answers not among them
  std::string graph;                ///< where it ended
  std::string error;                ///< of the minifier

  bool isMinimal() const { return error.empty() && oneMinimal && calls <= fewestCalls; }
  bool hasFewestNodes() const { return error.empty() && nodes <= fewestNodes; }
  bool asksMore() const { return !error.empty() || tests * 2 > plain * 3; }
  double ratio() const { return double(tests) / plain; }
};

bool isSearchOverSets(std::string_view step) {
  constexpr std::string_view steps[] = {"start",         "flatten_graphs", "suspects",      "remove_suffix",
                                        "remove_prefix", "delta",          "leave_one_out", "shorter_path"};
  return std::ranges::find(steps, step) != std::end(steps);
}

/// None where the recording is not here.
std::optional<Row> run(const GateCase& gate) {
  std::optional<Candidate> start = graphOf(gate);
  if (!start) return std::nullopt;
  Row row{.gate = gate, .start = start->module.graph.size()};
  const int needles = plant(gate, *start);
  row.needles = needles;
  NeedleOracle oracle(gate.rule, needles);
  row.fewestCalls = fewestCalls(start->module.graph, gate.rule, needles);
  row.fewestNodes = fewestNodes(start->module, needles);
  const DdminResult plain = plainDdmin(*start, oracle);
  row.plain = plain.tests;
  row.plainCalls = plain.calls;
  MemoryVerdictCache cache;
  const auto began = std::chrono::steady_clock::now();
  MinifyOptions options;
  options.parallelQueries = 1;
  int before = 0;
  const MinifyObserver count = [&](const MinifyProgress& progress, const Candidate*) -> Result<void> {
    const int asked = progress.step.test - std::exchange(before, progress.step.test);
    const MinifyStep& step = progress.step;
    if (asked > 0)
      row.listed.push_back(fmt::format("{} to {} calls, {} nodes, {} elements: {}", step.reduction, step.size.calls,
                                       step.size.nodes, step.size.elements, step.accepted ? "fails" : "passes"));
    if (isSearchOverSets(progress.step.reduction)) row.sets += asked;
    return {};
  };
  const auto result = minify(*start, oracle, cache, options, count, {});
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (!result) {
    row.error = result.error().text();
    return row;
  }
  const CandidateSize size = measure(result->candidate);
  row.graph = printReadable(result->candidate.module, {});
  row.calls = size.calls;
  row.nodes = size.nodes;
  row.tests = result->tests;
  row.oneMinimal = result->oneMinimal;
  return row;
}

void print(int number, const Row& row) {
  fmt::print("{:>3} {:<54} {:<9} {:>2} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6.2f} {:>6} {:>8.2f}", number,
             row.gate.graph, ruleNames[std::size_t(row.gate.rule)], row.needles, row.start, row.calls, row.fewestCalls,
             row.nodes, row.fewestNodes, row.tests, row.sets, row.plain, row.ratio(), row.plainCalls, row.seconds);
  if (!row.error.empty()) fmt::print("  FAILED: {}", row.error);
  if (!row.isMinimal()) fmt::print("  NOT MINIMAL");
  if (!row.hasFewestNodes()) fmt::print("  MORE NODES");
  if (row.asksMore()) fmt::print("  MORE TESTS");
  fmt::print("\n");
  std::fflush(stdout);
}

/// What the rows add up to.
struct Totals {
  int cases = 0, minimal = 0, fewestNodes = 0, asksMore = 0;
  std::int64_t tests = 0, sets = 0, plain = 0;
  double worst = 0;

  void add(const Row& row) {
    ++cases;
    minimal += row.isMinimal() ? 1 : 0;
    fewestNodes += row.hasFewestNodes() ? 1 : 0;
    asksMore += row.asksMore() ? 1 : 0;
    tests += row.tests;
    sets += row.sets;
    plain += row.plain;
    worst = std::max(worst, row.ratio());
  }
  bool passes() const {
    const auto isMost = [&](int count) { return count * 100 >= cases * 95; };
    return cases > 0 && isMost(minimal) && isMost(fewestNodes) && isMost(cases - asksMore) && tests * 2 <= plain * 3;
  }
};

}  // namespace

int main(int count, char** arguments) {
  const bool isSeeded = count > 2 && std::string_view(arguments[1]) == "--seed";
  const unsigned firstSeed = isSeeded ? unsigned(std::stoul(arguments[2])) : 0;
  const int first = isSeeded ? 3 : 1;
  const std::string only = count > first ? arguments[first] : "";
  fmt::print("{:>3} {:<54} {:<9} {:>2} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8}\n", "#",
             "graph", "rule", "k", "start", "calls", "fewest", "nodes", "fewest", "tests", "sets", "ddmin", "ratio",
             "calls", "seconds");
  Totals totals;
  int number = 0, missing = 0;
  for (const GateCase& gate : gateCases(firstSeed)) {
    ++number;
    const bool isOne = std::to_string(number) == only;
    const bool isNumber = only.find_first_not_of("0123456789") == std::string::npos;
    if (!only.empty() && !isOne && (isNumber || gate.graph.find(only) == std::string::npos)) continue;
    const auto row = run(gate);
    if (!row) {
      ++missing;
      fmt::print("{:>3} {:<54} NOT HERE\n", number, gate.graph);
      continue;
    }
    totals.add(*row);
    print(number, *row);
    if (!isOne) continue;
    for (const std::string& test : row->listed) fmt::print("    {}\n", test);
    fmt::print("{}\n", row->graph);
  }
  fmt::print(
      "{} cases, {} not here: {} with the fewest calls, {} with the fewest nodes; {} with more than 1.5 times the "
      "tests of ddmin, the worst {:.2f}; tests: {} in all, {} of them for sets, ddmin {}\n",
      totals.cases, missing, totals.minimal, totals.fewestNodes, totals.asksMore, totals.worst, totals.tests,
      totals.sets, totals.plain);
  return missing == 0 && totals.passes() ? 0 : 1;
}
