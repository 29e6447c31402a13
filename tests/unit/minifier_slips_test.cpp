// Searches that meet other failures than theirs: what counts, what is kept.
#include <gtest/gtest.h>

#include "minifier/core/slip_log.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/reductions/reductions.h"
#include "tests/support/minifier_graphs.h"

namespace kerf {
namespace {

using namespace kerf::testing;

/// relu and tanh fail together in one way; tanh alone in another.
Verdict twoBugs(const Candidate& candidate) {
  const Graph& graph = candidate.module.graph;
  if (calls(graph, reluTarget)) return fails("accuracy:magnitude");
  return calls(graph, tanhTarget) ? fails("crash:SIGSEGV:run") : passes();
}

Result<MinifyResult> searched(MinifyOptions options, MemoryVerdictCache& cache,
                              const GraphOracle::Rule& rule = twoBugs) {
  GraphOracle oracle(rule);
  options.parallelQueries = 1;
  return minify(mlp(6, 3), oracle, cache, options, {}, {});
}

TEST(Slips, AreCountedAndTheSmallestIsKept) {
  MemoryVerdictCache cache;
  const auto result = searched({}, cache);
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_TRUE(calls(result->candidate.module.graph, reluTarget));
  ASSERT_EQ(result->slips.size(), 1u);
  const Slip& slip = result->slips[0];
  EXPECT_EQ(slip.number, 1);
  EXPECT_EQ(slip.fingerprint, "crash:SIGSEGV:run");
  EXPECT_EQ(slip.tests, result->slipTests);
  EXPECT_GT(slip.tests, 0);
  EXPECT_EQ(measure(slip.candidate), slip.size);
  EXPECT_EQ(twoBugs(slip.candidate).fingerprint, "crash:SIGSEGV:run");
}

/// relu is the bug; tanh alone is wrong too, by much less, and was never what the graph showed.
Verdict twoWrongValues(const Candidate& candidate) {
  const Graph& graph = candidate.module.graph;
  if (calls(graph, reluTarget)) return fails("accuracy:magnitude:aten.relu.default:10^8");
  return calls(graph, tanhTarget) ? fails("accuracy:magnitude:aten.tanh.default:10^1") : passes();
}

TEST(Slips, AnotherOpThatIsLessWrongIsAFinding) {
  MemoryVerdictCache cache;
  const auto result = searched({}, cache, twoWrongValues);
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_TRUE(calls(result->candidate.module.graph, reluTarget));
  EXPECT_EQ(result->fingerprint, "accuracy:magnitude:aten.relu.default:10^8");
  for (const MinifyStep& step : result->steps) EXPECT_EQ(step.fingerprint, result->fingerprint);
  ASSERT_EQ(result->slips.size(), 1u);
  EXPECT_EQ(result->slips[0].fingerprint, "accuracy:magnitude:aten.tanh.default:10^1");
}

TEST(Slips, AreKnownFromTheCacheToo) {
  MemoryVerdictCache cache;
  const auto first = searched({}, cache), second = searched({}, cache);
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(second->tests, 0);
  ASSERT_EQ(second->slips.size(), 1u);
  EXPECT_EQ(second->slips[0].size, first->slips[0].size);
}

TEST(Slips, EveryFailureCountsWhereAnyIsAskedFor) {
  MemoryVerdictCache cache;
  MinifyOptions options;
  options.match = FailureMatch::any();
  const auto result = searched(options, cache);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->slipTests, 0);
  EXPECT_EQ(result->candidate.module.graph.size(), 3u);
}

TEST(Slips, AStartThatAPatternDoesNotFindIsRefused) {
  MemoryVerdictCache cache;
  MinifyOptions options;
  options.match = FailureMatch::pattern("^crash").value();
  const auto result = searched(options, cache);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::BadUsage);
  EXPECT_NE(result.error().message.find("accuracy:magnitude"), std::string::npos);
}

TEST(SlipLog, IsBoundedAndCountsACandidateOnce) {
  SlipLog log;
  const Candidate candidate = mlp(1, 0);
  const CandidateSize size = measure(candidate);
  for (int i = 0; i < 40; ++i) {
    const Slip* slip = log.note(std::to_string(i), fails(fmt::format("crash:{}", i)), candidate, size);
    EXPECT_EQ(slip != nullptr, i < int(SlipLog::mostFindings)) << i;
  }
  EXPECT_EQ(log.note("0", fails("crash:0"), candidate, size), nullptr);
  EXPECT_EQ(log.note("more", fails("crash:0"), candidate, size), nullptr);
  EXPECT_EQ(log.tests(), 41);
  EXPECT_EQ(log.findings().size(), SlipLog::mostFindings);
  EXPECT_EQ(log.findings()[0].tests, 2);
  CandidateSize smaller = size;
  --smaller.calls;
  ASSERT_NE(log.note("smaller", fails("crash:0"), candidate, smaller), nullptr);
  EXPECT_EQ(log.findings()[0].size, smaller);
}

}  // namespace
}  // namespace kerf
