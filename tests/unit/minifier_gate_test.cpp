// A small part of tests/bench/minify_gate: needles that fail only together, beside a plain ddmin on the same graphs.
#include <gtest/gtest.h>

#include "tests/support/needle_cases.h"
#include "tests/support/needle_graphs.h"

namespace kerf {
namespace {

using namespace kerf::testing;

struct GateCase {
  std::size_t calls;
  NeedleRule rule;
  int needles;
  bool nested;
};

class MinifyGate : public ::testing::TestWithParam<GateCase> {};

TEST_P(MinifyGate, ReachesTheMinimumInFewQuestions) {
  const GateCase& gate = GetParam();
  for (const unsigned seed : {1u, 2u, 3u}) {
    Candidate start = needleGraph({.seed = seed, .calls = gate.calls, .nested = gate.nested, .mutates = seed == 2});
    int needles = plantNeedles(start.module.graph, gate.rule, gate.needles, seed);
    if (gate.nested) needles += plantNestedNeedle(start.module, needles, seed) ? 1 : 0;
    NeedleOracle oracle(gate.rule, needles);
    const DdminResult plain = plainDdmin(start, oracle);
    MemoryVerdictCache cache;
    const auto result = minify(start, oracle, cache, {}, {}, {});
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_TRUE(result->oneMinimal);
    EXPECT_TRUE(oracle.fails(result->candidate));
    const CandidateSize size = measure(result->candidate);
    EXPECT_LE(size.calls, fewestCalls(start.module.graph, gate.rule, needles)) << "seed " << seed;
    EXPECT_LE(size.nodes, std::size_t(needles) + 3) << "seed " << seed;
    EXPECT_LE(result->tests * 2, plain.tests * 3) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Needles, MinifyGate,
                         ::testing::Values(GateCase{300, NeedleRule::Together, 2, false},
                                           GateCase{300, NeedleRule::Together, 4, false},
                                           GateCase{300, NeedleRule::Wide, 3, false},
                                           GateCase{200, NeedleRule::Ordered, 2, false},
                                           GateCase{120, NeedleRule::Together, 2, true}));

TEST(MinifyGate, AWideNeedleEndsAtThirteen) {
  Candidate start = needleGraph({.seed = 7, .calls = 200});
  ASSERT_EQ(plantNeedles(start.module.graph, NeedleRule::Wide, 1, 7), 1);
  NeedleOracle oracle(NeedleRule::Wide, 1);
  MemoryVerdictCache cache;
  const auto result = minify(start, oracle, cache, {}, {}, {});
  ASSERT_TRUE(result) << result.error().text();
  std::int64_t widest = 0, product = 1;
  for (const std::int64_t size : result->candidate.inputs.at(0).tensor().sizes()) {
    widest = std::max(widest, size);
    product *= size;
  }
  EXPECT_EQ(widest, 13);
  EXPECT_EQ(product, 13);
}

TEST(MinifyGate, TheResultDoesNotDependOnHowManyAreAskedAtOnce) {
  Candidate start = needleGraph({.seed = 5, .calls = 150});
  const int needles = plantNeedles(start.module.graph, NeedleRule::Together, 3, 5);
  std::set<std::string> results;
  std::set<int> tests;
  for (const int width : {1, 2, 5}) {
    NeedleOracle oracle(NeedleRule::Together, needles);
    MemoryVerdictCache cache;
    MinifyOptions options;
    options.parallelQueries = width;
    const auto result = minify(start, oracle, cache, options, {}, {});
    ASSERT_TRUE(result);
    results.insert(CandidateHasher().hash(result->candidate).hex());
    tests.insert(result->tests);
  }
  EXPECT_EQ(results.size(), 1u);
  EXPECT_EQ(tests.size(), 1u) << "speculative tests in vain are not counted";
}

}  // namespace
}  // namespace kerf
