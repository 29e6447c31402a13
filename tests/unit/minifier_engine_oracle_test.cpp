// The engine oracle: every kind of planted fault is a verdict, and minifies to the op it was planted in.
#include <gtest/gtest.h>

#include <csignal>

#include "minifier/core/recorded_values.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/oracle/engine_oracle.h"
#include "minifier/reductions/reductions.h"
#include "tests/support/minifier_edits.h"
#include "tests/support/minifier_graphs.h"
#include "tests/support/patience.h"

namespace kerf {
namespace {

using namespace kerf::testing;

EngineOracleOptions planted(const char* fault) {
  EngineOracleOptions options;
  options.compile.faults.faults.push_back(*parseFault(fault));
  options.limits.timeout = std::chrono::seconds(20);
  return options;
}

struct KindCase {
  const char* fault;
  const char* prefix;  ///< of the fingerprint
};

class FaultKinds : public ::testing::TestWithParam<KindCase> {};

TEST_P(FaultKinds, MinifyToTheOpAlone) {
  EngineOracle oracle(planted(GetParam().fault));
  MemoryVerdictCache cache;
  const auto result = minify(mlp(6, 3), oracle, cache, {}, {}, {});
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_TRUE(result->fingerprint.starts_with(GetParam().prefix)) << result->fingerprint;
  EXPECT_TRUE(result->oneMinimal);
  const Graph& graph = result->candidate.module.graph;
  ASSERT_EQ(graph.size(), 3u);
  EXPECT_EQ(graph.node(graph.order()[0]).name(), "addmm_3");
  EXPECT_TRUE(graph.node(graph.order()[1]).isCall(knownOp(reluTarget)));
  for (const MinifyStep& step : result->steps)
    EXPECT_EQ(failureKind(step.fingerprint), failureKind(result->fingerprint));
}

INSTANTIATE_TEST_SUITE_P(Planted, FaultKinds,
                         ::testing::Values(KindCase{"relu=accuracy", "accuracy:magnitude:aten.relu.default:10^"},
                                           KindCase{"relu=compile_error", "compile_error:"},
                                           KindCase{"relu=runtime_error", "runtime_error:"},
                                           KindCase{"relu=crash", "crash:"}, KindCase{"relu=hang", "hang:"}),
                         [](const auto& info) { return std::string(info.param.fault).substr(5); });

TEST(EngineOracle, OpsThatFailOnlyTogetherAreBothKept) {
  EngineOracle oracle(planted("relu+permute=crash"));
  MemoryVerdictCache cache;
  const auto result = minify(mlp(9, 4), oracle, cache, {}, {}, {});
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_TRUE(result->oneMinimal);
  EXPECT_EQ(measure(result->candidate).calls, 2u);
  EXPECT_TRUE(calls(result->candidate.module.graph, reluTarget));
  EXPECT_TRUE(calls(result->candidate.module.graph, permuteTarget));
}

TEST(EngineOracle, PassesWhatIsNotPlanted) {
  EngineOracle oracle(planted("sigmoid=crash"));
  const auto verdict = oracle.judge(mlp(3, 1), {});
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->kind, VerdictKind::Passes) << verdict->detail;
}

TEST(EngineOracle, WithoutAccuracyModeDifferencesPass) {
  EngineOracleOptions options = planted("relu=accuracy");
  options.accuracy = false;
  const auto verdict = EngineOracle(options).judge(mlp(3, 1), {});
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->kind, VerdictKind::Passes);
}

TEST(EngineOracle, CannotTestWhatTheReferenceCannotRun) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId unknown = b.call("torch.ops.mine.unknown.default", {x});
  b.graph.output(Argument::tuple({unknown}));
  EngineOracle oracle(planted("relu=crash"));
  const auto verdict = oracle.judge(b.candidate, {});
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->kind, VerdictKind::CannotTest);
  EXPECT_NE(verdict->detail.find("mine"), std::string::npos);
}

/// Its interpreter run takes a while; compiling `relu` can be made to fail at once.
Candidate products(std::int64_t size, int count) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {size, size});
  NodeId last = b.call(reluTarget, {x});
  for (int i = 0; i < count; ++i) last = b.call("torch.ops.aten.mm.default", {last, x});
  b.graph.output(Argument::tuple({last}));
  return b.candidate;
}

TEST(EngineOracle, TheStartGraphsOwnRunsMayTakeMuchLongerThanTheTimeout) {
  const auto judged = [](const Candidate& start, std::chrono::milliseconds timeout) {
    EngineOracleOptions options = planted("relu=compile_error");
    options.limits.timeout = timeout;
    EngineOracle oracle(options);
    return oracle.judge(start, {}).value();
  };
  Verdict verdict;
  for (int count = 6; count <= 100 && !verdict.fingerprint.starts_with("compile_error:"); count *= 2) {
    const Candidate start = products(1300, count);
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(judged(start, test::patience).kind, VerdictKind::Fails);
    const auto took = std::chrono::steady_clock::now() - began;  // most of it in its own runs, now
    verdict = judged(start, std::chrono::ceil<std::chrono::milliseconds>(took / 5));
  }
  EXPECT_EQ(verdict.kind, VerdictKind::Fails) << verdict.detail;
  EXPECT_TRUE(verdict.fingerprint.starts_with("compile_error:")) << verdict.fingerprint;
}

TEST(EngineOracle, LaterGraphsMayTakeAFewTimesTheLongestSoFar) {
  EngineOracleOptions options = planted("relu=compile_error");
  options.limits.timeout = std::chrono::milliseconds(250);
  EngineOracle oracle(options);
  ASSERT_EQ(oracle.judge(products(8, 1), {})->kind, VerdictKind::Fails);
  const auto later = oracle.judge(products(1300, 900), {});
  ASSERT_TRUE(later.has_value());
  EXPECT_EQ(later->kind, VerdictKind::CannotTest);
  EXPECT_EQ(later->detail, "hang while the graph was in phase 'reference'");
}

TEST(EngineOracle, WorksAfterTheParentUsedTheMathLibraries) {
  const Candidate big = mlp(4, 2);
  RecordedValues values(big, {});  // runs addmm through OpenBLAS in this process
  ASSERT_NE(valueOf(values, *big.module.graph.find("addmm_3")), nullptr);
  EngineOracle oracle(planted("relu=accuracy"));
  const auto verdict = oracle.judge(big, {});
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->kind, VerdictKind::Fails);
  EXPECT_TRUE(verdict->fingerprint.starts_with("accuracy:")) << verdict->fingerprint;
}

TEST(EngineOracle, IdentityTellsFaultsAndOptionsApart) {
  EngineOracleOptions tight = planted("relu=accuracy");
  tight.compare.tolerance = 1e-6;
  EXPECT_NE(EngineOracle(planted("relu=accuracy")).identity(), EngineOracle(planted("relu=crash")).identity());
  EXPECT_NE(EngineOracle(planted("relu=accuracy")).identity(), EngineOracle(tight).identity());
  EngineOracleOptions fewer = planted("relu=accuracy");
  fewer.compile.passes.disabled = {"cse"};
  EngineOracleOptions small = planted("relu=accuracy");
  small.limits.fileBytes = 1'000'000;
  EXPECT_NE(EngineOracle(planted("relu=accuracy")).identity(), EngineOracle(small).identity());
  EXPECT_NE(EngineOracle(planted("relu=accuracy")).identity(), EngineOracle(fewer).identity());
}

TEST(CompareIsolated, ReportsEveryOutput) {
  const auto report = compareIsolated(mlp(3, 1), planted("relu=accuracy"));
  ASSERT_TRUE(report.has_value()) << report.error().text();
  EXPECT_FALSE(report->same);
  EXPECT_TRUE(report->haveFp64);
  ASSERT_EQ(report->outputs.size(), 1u);
  EXPECT_GT(report->outputs[0].ratioToLimit, 1);
  const auto good = compareIsolated(mlp(3, 1), {});
  ASSERT_TRUE(good.has_value());
  EXPECT_TRUE(good->same);
}

TEST(CompareIsolated, ACrashIsAFailureOfTheReport) {
  const auto report = compareIsolated(mlp(3, 1), planted("relu=crash"));
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->same);
  EXPECT_NE(report->failure.find("SIG"), std::string::npos) << report->failure;
}

}  // namespace
}  // namespace kerf
