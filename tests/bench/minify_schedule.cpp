// minify_schedule: what searches take where a query takes 0.7 s and 2 ms for each node (a warm PyTorch), in virtual
// time, with 1 and with 14 workers, beside a plain ddmin with as many. The cases of minify_gate, and calls next to each
// other that must all stay. Prints a table; exit 1 unless 24 such calls of 1,865 take at most 198 tests and 60 s. Also
// says how far the time to go that the search told was from what it then took. `--seed N` makes other cases; with
// `--query BASE NODE` a query takes other seconds, and NODE more for each node.
#include <cmath>

#include <fmt/format.h>

#include "minifier/core/search.h"
#include "tests/support/gate_cases.h"
#include "tests/support/virtual_queries.h"

namespace {

using namespace kerf;
using namespace kerf::testing;

constexpr std::size_t workers = 14;

struct Told {
  double at, left;
};

struct Searched {
  MinifyResult result;
  double seconds = 0, secondsForCalls = 0;  ///< until the fewest calls were reached
  int testsForCalls = 0, begun = 0;
  std::vector<Told> told;
};

/// Who works, and what a query takes.
struct Works {
  std::size_t jobs = 1;
  QueryCost cost;
};

std::optional<Searched> searched(const Candidate& start, Oracle& oracle, const Works& works) {
  VirtualQueries runner(oracle, works.jobs, works.cost);
  MemoryVerdictCache cache;
  const MinifyOptions options;
  Searched run;
  std::size_t calls = SIZE_MAX;
  const MinifyObserver watch = [&](const MinifyProgress& progress, const Candidate*) -> Result<void> {
    run.told.push_back({runner.seconds(), progress.secondsLeft});
    if (progress.best.calls >= calls) return {};
    calls = progress.best.calls;
    run.secondsForCalls = runner.seconds();
    run.testsForCalls = progress.step.test;
    return {};
  };
  Search search(start, {oracle, cache, options, watch, {}, &runner});
  auto result = search.run(allReductions());
  if (!result) return std::nullopt;
  run.result = std::move(*result);
  run.seconds = runner.seconds();
  run.begun = runner.begun;
  return run;
}

/// Virtual time of a ddmin that judges the pieces of a round side by side, up to the first that fails.
double ddminSeconds(const Candidate& start, const NeedleOracle& oracle, const Works& works) {
  double seconds = works.cost(start);
  std::vector<std::pair<double, bool>> round;  // cost, fails
  const auto flush = [&] {
    std::vector<double> busy(works.jobs, 0.0);
    double latest = 0;
    for (const auto& [cost, fails] : round) {
      auto free = std::ranges::min_element(busy);
      *free += cost;
      latest = std::max(latest, *free);
    }
    seconds += latest;
    round.clear();
  };
  plainDdmin(start, oracle, [&](const Candidate& candidate, bool fails) {
    round.emplace_back(works.cost(candidate), fails);
    if (fails || round.size() == works.jobs) flush();
  });
  flush();
  return seconds;
}

/// The worst and the middle factor between what was told and what it took, while a tenth of the time was left.
std::vector<double> factors(const Searched& run) {
  std::vector<double> list;
  for (const Told& told : run.told) {
    const double left = run.seconds - told.at;
    if (told.left <= 0 || left < run.seconds / 10) continue;
    list.push_back(std::max(told.left / left, left / told.left));
  }
  return list;
}

struct Sums {
  double one = 0, many = 0, ddminOne = 0, ddminMany = 0;
  int cases = 0;
  std::vector<double> factors;
};

void row(const std::string& name, const Candidate& start, NeedleOracle& oracle, const QueryCost& cost, Sums& sums) {
  const Works alone{1, cost}, together{workers, cost};
  const auto one = searched(start, oracle, alone), many = searched(start, oracle, together);
  if (!one || !many) {
    fmt::print("{:<56} FAILED\n", name);
    return;
  }
  const double ddminOne = ddminSeconds(start, oracle, alone), ddminMany = ddminSeconds(start, oracle, together);
  fmt::print("{:<56} {:>5} {:>5} {:>5} {:>5} {:>5} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f}\n", name,
             start.module.graph.size(), many->result.steps.back().size.nodes, many->testsForCalls, many->result.tests,
             many->begun, one->seconds, many->secondsForCalls, many->seconds, ddminOne, ddminMany);
  std::fflush(stdout);
  ++sums.cases;
  sums.one += one->seconds;
  sums.many += many->seconds;
  sums.ddminOne += ddminOne;
  sums.ddminMany += ddminMany;
  for (const double factor : factors(*many)) sums.factors.push_back(factor);
}

/// 24 calls, `step` apart, of a graph of about 1,865.
Candidate neighbours(unsigned seed, std::size_t step, int needles) {
  Candidate start = needleGraph({.seed = seed, .calls = 1865});
  const auto choices = needleChoices(start.module.graph);
  const std::size_t first = choices.size() * (1 + seed % 5) / 7;
  for (int i = 0; i < needles; ++i) markNeedle(start.module.graph, choices[first + step * std::size_t(i)], i);
  return start;
}

}  // namespace

int main(int count, char** arguments) {
  unsigned firstSeed = 0;
  QueryCost cost = warmTorchCost;
  for (int i = 1; i + 1 < count; ++i) {
    const std::string_view option = arguments[i];
    if (option == "--seed") firstSeed = unsigned(std::stoul(arguments[i + 1]));
    if (option != "--query" || i + 2 >= count) continue;
    cost = [base = std::stod(arguments[i + 1]), node = std::stod(arguments[i + 2])](const Candidate& candidate) {
      return base + node * double(candidate.module.graph.size());
    };
  }
  fmt::print("{:<56} {:>5} {:>5} {:>5} {:>5} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "case", "start", "nodes", "calls@",
             "tests", "begun", "1 s", "calls@ s", "14 s", "dd 1 s", "dd 14 s");
  constexpr int needles = 24, mostTests = 198;
  constexpr double mostSeconds = 60;
  bool isFast = true;
  Sums sums;
  for (const std::size_t step : {1, 2, 4}) {
    for (unsigned seed = firstSeed; seed < firstSeed + 4; ++seed) {
      const Candidate start = neighbours(seed, step, needles);
      NeedleOracle oracle(NeedleRule::Together, needles);
      row(fmt::format("24 calls, {} apart, seed {}", step, seed), start, oracle, cost, sums);
      const auto many = searched(start, oracle, {workers, cost});
      isFast =
          isFast && many && (step > 1 || (many->testsForCalls <= mostTests && many->secondsForCalls <= mostSeconds));
    }
  }
  for (const GateCase& gate : gateCases(firstSeed)) {
    auto start = graphOf(gate);
    if (!start) continue;
    NeedleOracle oracle(gate.rule, plant(gate, *start));
    row(fmt::format("{} {} {}", gate.graph, ruleNames[std::size_t(gate.rule)], gate.needles), *start, oracle, cost,
        sums);
  }
  fmt::print("{} cases: 1 worker {:.0f} s, 14 workers {:.0f} s; ddmin {:.0f} s and {:.0f} s\n", sums.cases, sums.one,
             sums.many, sums.ddminOne, sums.ddminMany);
  std::ranges::sort(sums.factors);
  const auto at = [&](double share) { return sums.factors[std::size_t(double(sums.factors.size() - 1) * share)]; };
  if (!sums.factors.empty())
    fmt::print("time to go was off by a factor of {:.1f} at half of the tests, {:.1f} at 90 %, {:.1f} at 99 %\n",
               at(0.5), at(0.9), at(0.99));
  return isFast ? 0 : 1;
}
