// The schedule of an expensive search: speculative tests, limits, flaky failures, and what a person may do.
#include <gtest/gtest.h>

#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "engine/ir/printer.h"
#include "minifier/core/minify_control.h"
#include "minifier/core/search.h"
#include "tests/support/minifier_edits.h"
#include "tests/support/minifier_graphs.h"
#include "tests/support/needle_cases.h"
#include "tests/support/needle_graphs.h"
#include "tests/support/virtual_queries.h"

namespace kerf {
namespace {

using namespace kerf::testing;

/// `count` calls next to each other that must all stay, in the middle of a graph of `calls`.
Candidate clustered(std::size_t calls, int count, unsigned seed) {
  Candidate start = needleGraph({.seed = seed, .calls = calls});
  const auto choices = needleChoices(start.module.graph);
  const std::size_t first = choices.size() * (2 + seed % 5) / 8;
  for (int i = 0; i < count; ++i) markNeedle(start.module.graph, choices[first + std::size_t(i)], i);
  return start;
}

/// The time to go, when it was told.
struct Told {
  double at, left;
};

struct Scheduled {
  MinifyResult result;
  std::vector<Told> told;
  double seconds = 0;   ///< of everything
  double untilFew = 0;  ///< until only needed calls were left
  int testsUntilFew = 0;
};

Scheduled scheduled(const Candidate& start, Oracle& oracle, std::size_t jobs, std::size_t few,
                    QueryCost cost = warmTorchCost) {
  VirtualQueries runner(oracle, jobs, std::move(cost));
  MemoryVerdictCache cache;
  const MinifyOptions options;
  Scheduled run;
  const MinifyObserver observer = [&](const MinifyProgress& progress, const Candidate*) -> Result<void> {
    run.told.push_back({runner.seconds(), progress.secondsLeft});
    if (progress.best.calls > few || run.untilFew > 0) return {};
    run.untilFew = runner.seconds();
    run.testsUntilFew = progress.step.test;
    return {};
  };
  Search search(start, {oracle, cache, options, observer, {}, &runner});
  auto result = search.run(allReductions());
  EXPECT_TRUE(result.has_value()) << result.error().text();
  if (result) run.result = std::move(*result);
  run.seconds = runner.seconds();
  return run;
}

TEST(MinifySchedule, ManyNeededCallsTogetherAreFoundInAMinute) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const Candidate start = clustered(1865, 24, seed);
    NeedleOracle oracle(NeedleRule::Together, 24);
    const Scheduled run = scheduled(start, oracle, 14, 24);
    EXPECT_EQ(run.result.steps.back().size.calls, 24u);
    EXPECT_TRUE(run.result.oneMinimal);
    EXPECT_GT(run.untilFew, 0);
    EXPECT_LE(run.untilFew, 60) << seed;
    EXPECT_LE(run.testsUntilFew, 198) << seed;
    RecordProperty("seconds", std::to_string(run.untilFew));
    RecordProperty("tests", run.testsUntilFew);
  }
}

TEST(MinifySchedule, TheTimeToGoIsRoughlyRightAndJumpsUpOnlyBetweenPhases) {
  constexpr int cases[][3] = {{1865, 24, 1}, {1865, 3, 2}, {600, 8, 3}, {300, 5, 4}, {300, 2, 5}, {120, 1, 6}};
  std::vector<double> factors;
  for (const auto& [calls, needles, seed] : cases) {
    const Candidate start = clustered(std::size_t(calls), needles, unsigned(seed));
    NeedleOracle oracle(NeedleRule::Together, needles);
    // Quick enough that no pieces are judged ahead: what comes of those nobody knows.
    const QueryCost quick = [](const Candidate& candidate) { return warmTorchCost(candidate) / 6; };
    const Scheduled run = scheduled(start, oracle, 14, 0, quick);
    int jumps = 0;
    for (std::size_t i = 0; i < run.told.size(); ++i) {
      jumps += i > 0 && run.told[i].left > 2.001 * run.told[i - 1].left ? 1 : 0;
      const double left = run.seconds - run.told[i].at;
      if (left >= run.seconds / 10) factors.push_back(std::max(run.told[i].left / left, left / run.told[i].left));
    }
    EXPECT_LE(jumps, 6) << calls << " calls, " << needles << " needles: there are six phases";
  }
  std::ranges::sort(factors);
  ASSERT_GT(factors.size(), 100u);
  EXPECT_LE(factors[factors.size() / 2], 2);
  EXPECT_LE(factors[factors.size() * 9 / 10], 3.5);
}

TEST(MinifySchedule, MoreWorkersAreFasterAndEndAtTheSame) {
  const Candidate start = clustered(300, 5, 3);
  NeedleOracle oracle(NeedleRule::Together, 5);
  const QueryCost quick = [](const Candidate&) { return 0.5; };
  const Scheduled one = scheduled(start, oracle, 1, 5, quick), many = scheduled(start, oracle, 14, 5, quick);
  EXPECT_LT(many.seconds * 3, one.seconds);
  EXPECT_EQ(one.result.unusedTests, 0);
  EXPECT_EQ(one.result.tests, many.result.tests);
  ASSERT_EQ(one.result.steps.size(), many.result.steps.size());
  for (std::size_t i = 0; i < one.result.steps.size(); ++i) {
    EXPECT_EQ(one.result.steps[i].size, many.result.steps[i].size);
    EXPECT_EQ(one.result.steps[i].test, many.result.steps[i].test);
    EXPECT_EQ(one.result.steps[i].reduction, many.result.steps[i].reduction);
  }
}

// Where the start graph takes long, pieces of it are judged meanwhile.
TEST(MinifySchedule, PiecesOfASlowGraphAreSearchedBeforeItIsJudged) {
  const Candidate start = clustered(1865, 24, 4);
  NeedleOracle oracle(NeedleRule::Together, 24);
  const QueryCost slow = [](const Candidate& candidate) { return 0.5 + 0.015 * double(candidate.module.graph.size()); };
  const Scheduled one = scheduled(start, oracle, 1, 24, slow), many = scheduled(start, oracle, 14, 24, slow);
  ASSERT_GT(many.result.steps.size(), 1u);
  EXPECT_EQ(many.result.steps[1].reduction, "windows");
  EXPECT_LE(many.result.steps[1].size.calls, 80u) << "64, and what they cannot be without";
  EXPECT_EQ(many.result.steps.back().size, one.result.steps.back().size);
  EXPECT_TRUE(many.result.oneMinimal);
  EXPECT_LT(many.untilFew, slow(start) + 10) << "all else is done while the start graph is judged, and little after it";
}

// A compiler that refuses a graph says so at once; one that takes it may need a minute. A speculative test must not
// keep what is waited for from being asked.
TEST(MinifySchedule, LongQueriesAheadDoNotHoldUpTheSearch) {
  const Candidate start = clustered(300, 5, 3);
  NeedleOracle oracle(NeedleRule::Together, 5);
  const QueryCost cost = [&](const Candidate& candidate) {
    return oracle.judge(candidate, {})->kind == VerdictKind::Fails ? 0.5 : 60.0;
  };
  const Scheduled one = scheduled(start, oracle, 1, 5, cost), few = scheduled(start, oracle, 3, 5, cost),
                  many = scheduled(start, oracle, 14, 5, cost);
  EXPECT_LE(few.seconds, one.seconds);
  EXPECT_LE(many.seconds, few.seconds);
  EXPECT_EQ(one.result.tests, many.result.tests);
}

TEST(MinifySchedule, NoLimitIsTooShortForTheStartGraph) {
  const Candidate start = clustered(300, 5, 3);
  NeedleOracle oracle(NeedleRule::Together, 5);
  VirtualQueries runner(oracle, 4, warmTorchCost);
  MemoryVerdictCache cache;
  MinifyOptions timed;
  timed.maxTime = std::chrono::nanoseconds(1);
  const MinifyObserver nobody;
  Search search(start, {oracle, cache, timed, nobody, {}, &runner});
  const auto result = search.run(allReductions());
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(result->ending, MinifyEnding::MaxTime);
  EXPECT_EQ(result->tests, 1);
  EXPECT_EQ(result->fingerprint, "needles");
  EXPECT_EQ(result->steps.size(), 1u);
}

TEST(MinifySchedule, ALimitKeepsTheBestSoFar) {
  const Candidate start = clustered(300, 5, 3);
  NeedleOracle oracle(NeedleRule::Together, 5);
  MemoryVerdictCache cache;
  MinifyOptions options;
  options.maxTests = 12;
  const auto few = minify(start, oracle, cache, options, {}, {});
  ASSERT_TRUE(few.has_value()) << few.error().text();
  EXPECT_EQ(few->ending, MinifyEnding::MaxTests);
  EXPECT_EQ(few->tests, 12);
  EXPECT_FALSE(few->oneMinimal);
  EXPECT_FALSE(few->cancelled);
  EXPECT_TRUE(oracle.fails(few->candidate));
  EXPECT_LT(few->candidate.module.graph.size(), start.module.graph.size() / 2);

  VirtualQueries runner(oracle, 4, warmTorchCost);
  MemoryVerdictCache other;
  MinifyOptions timed;
  timed.maxTime = std::chrono::seconds(5);
  const MinifyObserver nobody;
  Search search(start, {oracle, other, timed, nobody, {}, &runner});
  const auto result = search.run(allReductions());
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->ending, MinifyEnding::MaxTime);
  EXPECT_GE(result->time, timed.maxTime);
  EXPECT_LT(result->time, std::chrono::seconds(7));
  EXPECT_TRUE(oracle.fails(result->candidate));
}

/// Fails with a probability where another oracle always does.
class FlakyOracle : public Oracle {
 public:
  FlakyOracle(NeedleOracle& truth, double rate, unsigned seed) : m_truth(truth), m_rate(rate), m_random(seed) {}
  Result<Verdict> judge(const Candidate& candidate, std::stop_token stop) override {
    const std::lock_guard lock(m_mutex);
    ++asked;
    if (std::uniform_real_distribution<>(0, 1)(m_random) >= m_rate) return Verdict{.kind = VerdictKind::Passes};
    return m_truth.judge(candidate, stop);
  }
  std::string identity() const override { return "flaky"; }
  int asked = 0;

 private:
  NeedleOracle& m_truth;
  double m_rate;
  std::mt19937 m_random;
  std::mutex m_mutex;
};

TEST(MinifySchedule, AFailureInThreeOfTenRunsReachesItsMinimum) {
  int minimal = 0, queries = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Candidate start = needleGraph({.seed = seed, .calls = 72});
    const int needles = plantNeedles(start.module.graph, NeedleRule::Together, 2, seed);
    NeedleOracle truth(NeedleRule::Together, needles);
    FlakyOracle oracle(truth, 0.3, seed);
    MemoryVerdictCache cache;
    MinifyOptions options;
    options.parallelQueries = 1;
    options.flakyStarts = 20;
    const auto result = minify(start, oracle, cache, options, {}, {});
    if (!result) continue;  // the start did not fail in 20 runs: less than one in a thousand
    EXPECT_TRUE(truth.fails(result->candidate));
    EXPECT_NEAR(result->failureRate, 0.3, 0.3);
    minimal += measure(result->candidate).calls == std::size_t(needles) ? 1 : 0;
    queries += oracle.asked;
  }
  EXPECT_GE(minimal, 18);
  RecordProperty("queries", queries / 20);
}

TEST(SequentialVote, OneFailureIsProofAndPassesAreCounted) {
  EXPECT_EQ(passesNeeded(1), 1);
  EXPECT_EQ(passesNeeded(0.5), 10);  // 2^-10 < 0.001
  EXPECT_EQ(passesNeeded(0.3), 20);  // 0.7^20 = 0.0008
  EXPECT_EQ(passesNeeded(0), 1000);
  EXPECT_EQ(assumedRate(20, 20), 1);
  EXPECT_GT(assumedRate(6, 20), 0.2);  // below what was seen, since that may have been luck
  EXPECT_LT(assumedRate(6, 20), 0.3);
  const VoteRule rule{.votes = 1, .passes = 3};
  const IsWanted wanted = [](const Verdict& verdict) { return verdict.fingerprint == "a"; };
  SequentialVote fails(rule, wanted), passes(rule, wanted), broken(rule, wanted);
  const Verdict pass{.kind = VerdictKind::Passes}, other{.kind = VerdictKind::Fails, .fingerprint = "b"};
  EXPECT_FALSE(fails.add(pass));
  EXPECT_EQ(fails.add({.kind = VerdictKind::Fails, .fingerprint = "a"})->fingerprint, "a");
  EXPECT_FALSE(passes.add(pass));
  EXPECT_FALSE(passes.add(other));
  EXPECT_EQ(passes.add(pass)->kind, VerdictKind::Passes);
  EXPECT_FALSE(broken.add({.kind = VerdictKind::CannotTest}));
  EXPECT_EQ(broken.add({.kind = VerdictKind::CannotTest})->kind, VerdictKind::CannotTest);
}

TEST(MinifyControl, PinnedNodesStay) {
  Candidate start = needleGraph({.seed = 4, .calls = 60});
  const auto choices = needleChoices(start.module.graph);
  markNeedle(start.module.graph, choices[choices.size() / 2], 0);
  const Node& pinned = start.module.graph.node(choices[5]);
  NeedleOracle oracle(NeedleRule::Together, 1);
  MemoryVerdictCache cache;
  MinifyOptions options;
  options.pinned = {pinned.name()};
  const auto result = minify(start, oracle, cache, options, {}, {});
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(measure(result->candidate).calls, 2u);
  const Graph& graph = result->candidate.module.graph;
  const auto found =
      std::ranges::find_if(graph.order(), [&](NodeId id) { return graph.node(id).name() == pinned.name(); });
  ASSERT_NE(found, graph.order().end());
  EXPECT_EQ(graph.node(*found).target(), pinned.target());
  options.pinned = {"no_such_node"};
  EXPECT_EQ(minify(start, oracle, cache, options, {}, {}).error().code, ErrorCode::BadUsage);
}

TEST(MinifyControl, UndoGoesAnotherWay) {
  GraphOracle oracle([](const Candidate& candidate) {
    return calls(candidate.module.graph, reluTarget) ? fails("accuracy:magnitude") : passes();
  });
  MemoryVerdictCache cache;
  MinifyControl control;
  MinifyOptions options;
  options.parallelQueries = 3;
  options.control = &control;
  std::vector<MinifyStep> steps;
  std::string undone;
  bool isUndone = false;
  const MinifyObserver observer = [&](const MinifyProgress& progress, const Candidate* accepted) -> Result<void> {
    if (!accepted) return {};
    steps.push_back(progress.step);
    const std::string text = printReadable(accepted->module, {});
    if (isUndone) {
      EXPECT_NE(text, undone);
    }
    if (progress.step.index == 2) undone = text;
    if (progress.step.index == 2 && !std::exchange(isUndone, true)) control.undoTo(1);
    return {};
  };
  const auto result = minify(mlp(17, 8), oracle, cache, options, observer, {});
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_TRUE(isUndone);
  EXPECT_TRUE(result->oneMinimal);
  EXPECT_EQ(steps[2].index, 2);
  EXPECT_EQ(steps[3].index, 2);  // again, in another way
  EXPECT_EQ(result->candidate.module.graph.size(), 3u);
}

TEST(MinifyControl, APausedSearchAsksNothing) {
  GraphOracle oracle([](const Candidate& candidate) {
    return calls(candidate.module.graph, reluTarget) ? fails("accuracy:magnitude") : passes();
  });
  MemoryVerdictCache cache;
  MinifyControl control;
  MinifyOptions options;
  options.control = &control;
  std::vector<MinifyActivity::Kind> kinds;
  options.activity = [&](const MinifyActivity& activity) { kinds.push_back(activity.kind); };
  control.pause();
  std::jthread search([&] { EXPECT_TRUE(minify(mlp(17, 8), oracle, cache, options, {}, {}).has_value()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(oracle.asked, 0);
  control.resume();
  search.join();
  EXPECT_GT(oracle.asked, 0);
  for (const auto kind : {MinifyActivity::Kind::Asked, MinifyActivity::Kind::Answered,
                          MinifyActivity::Kind::ReductionBegins, MinifyActivity::Kind::ReductionEnds})
    EXPECT_NE(std::ranges::find(kinds, kind), kinds.end()) << int(kind);
}

}  // namespace
}  // namespace kerf
