// The delta loop: accept rule, cache, fingerprints, votes, cancelling, resuming.
#include <gtest/gtest.h>

#include <thread>

#include "minifier/core/recorded_values.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/reductions/reductions.h"
#include "tests/support/minifier_edits.h"
#include "tests/support/minifier_graphs.h"

namespace kerf {
namespace {

using namespace kerf::testing;

Verdict failsWithRelu(const Candidate& candidate) {
  return calls(candidate.module.graph, reluTarget) ? fails("accuracy:magnitude") : passes();
}

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> list;
  for (NodeId id : graph.order()) list.push_back(graph.node(id).name());
  return list;
}

TEST(Minify, CutsAFaultyOpOutOfADeepGraph) {
  GraphOracle oracle(failsWithRelu);
  MemoryVerdictCache cache;
  std::vector<MinifyStep> seen;
  CandidateSize last{.calls = SIZE_MAX};
  const MinifyObserver observer = [&](const MinifyProgress& progress, const Candidate* candidate) -> Result<void> {
    EXPECT_EQ(candidate != nullptr, progress.step.accepted);
    if (!candidate) return {};
    EXPECT_EQ(measure(*candidate), progress.step.size);
    EXPECT_LT(progress.step.size, last);
    last = progress.step.size;
    seen.push_back(progress.step);
    return {};
  };
  MinifyOptions options;
  options.parallelQueries = 1;
  const auto result = minify(mlp(17, 8), oracle, cache, options, observer, {});
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(names(result->candidate.module.graph), (std::vector<std::string>{"addmm_8", "relu", "output"}));
  EXPECT_EQ(result->candidate.inputs.size(), 1u);
  EXPECT_TRUE(result->candidate.module.graph.lint().has_value());
  EXPECT_TRUE(result->oneMinimal);
  EXPECT_FALSE(result->cancelled);
  EXPECT_EQ(result->fingerprint, "accuracy:magnitude");
  ASSERT_GE(seen.size(), 2u);
  EXPECT_EQ(seen.size(), result->steps.size());
  EXPECT_EQ(seen[0].reduction, "start");
  EXPECT_EQ(seen[0].size.nodes, 87u);
  EXPECT_EQ(seen.back().index, int(seen.size()) - 1);
  EXPECT_EQ(result->tests, oracle.asked);
  EXPECT_LE(result->tests, 20);
}

TEST(Minify, NewInputsHoldTheRecordedValues) {
  GraphOracle oracle([](const Candidate& candidate) {  // shape and values must stay
    const CandidateSize size = measure(candidate);
    return size.inputBytes >= 4 * 8 * 4 && size.values >= 3 ? failsWithRelu(candidate) : passes();
  });
  MemoryVerdictCache cache;
  const Candidate start = mlp(2, 1);
  RecordedValues recorded(start, {});
  const Value* expected = valueOf(recorded, *start.module.graph.find("addmm_1"));
  ASSERT_NE(expected, nullptr);
  const auto result = minify(start, oracle, cache, {}, {}, {});
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->candidate.inputs.size(), 1u);
  const Tensor& value = result->candidate.inputs[0].tensor();
  ASSERT_EQ(value.sizes(), expected->tensor().sizes());
  for (std::int64_t i = 0; i < value.numel(); ++i) EXPECT_EQ(value.itemAsDouble(i), expected->tensor().itemAsDouble(i));
}

TEST(Minify, FindsTwoOpsThatFailOnlyTogether) {
  GraphOracle oracle([](const Candidate& candidate) {
    const Graph& graph = candidate.module.graph;
    for (NodeId id : graph.order()) {
      if (!graph.node(id).isCall(knownOp(tanhTarget))) continue;
      const NodeId source = graph.node(id).inputs()[0];
      if (graph.node(source).isCall(knownOp(reluTarget))) return fails("fused");
    }
    return passes();
  });
  MemoryVerdictCache cache;
  CandidateBuilder b;
  NodeId x = b.input("x", {4});
  NodeId current = x;
  for (int i = 0; i < 40; ++i)
    current = b.call(i == 23 ? reluTarget : tanhTarget, {current}, i == 23 ? "relu" : "tanh");
  const auto result = minify(b.finish({current}), oracle, cache, {}, {}, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->candidate.module.graph.size(), 4u);
  EXPECT_TRUE(result->oneMinimal);
  EXPECT_EQ(measure(result->candidate).inputBytes, 4);  // one float is enough
}

TEST(Minify, DoesNotSlipToAnotherBug) {
  GraphOracle oracle([](const Candidate& candidate) {
    const Graph& graph = candidate.module.graph;
    if (calls(graph, reluTarget) && calls(graph, expTarget)) return fails("first bug");
    return calls(graph, expTarget) ? fails("other bug") : passes();
  });
  MemoryVerdictCache cache;
  CandidateBuilder b;
  const NodeId x = b.input("x", {4});
  const NodeId exp = b.call(expTarget, {b.call(tanhTarget, {x})});
  const auto result = minify(b.finish({b.call(addTarget, {b.call(reluTarget, {exp}), x})}), oracle, cache, {}, {}, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->fingerprint, "first bug");
  EXPECT_TRUE(calls(result->candidate.module.graph, reluTarget));
  EXPECT_TRUE(calls(result->candidate.module.graph, expTarget));
  EXPECT_EQ(result->candidate.module.graph.size(), 4u);
}

TEST(Minify, RefusesAGraphThatDoesNotFail) {
  GraphOracle oracle([](const Candidate&) { return passes(); });
  MemoryVerdictCache cache;
  const auto result = minify(mlp(2, 1), oracle, cache, {}, {}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::BadUsage);
  EXPECT_EQ(oracle.asked, 1);
}

TEST(Minify, RefusesAnotherFingerprintThanAskedFor) {
  GraphOracle oracle(failsWithRelu);
  MemoryVerdictCache cache;
  MinifyOptions options;
  options.onlyFingerprint = "crash:SIGSEGV";
  const auto result = minify(mlp(2, 1), oracle, cache, options, {}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::BadUsage);
  EXPECT_NE(result.error().message.find("accuracy:magnitude"), std::string::npos);
}

TEST(Minify, ASecondRunResumesFromTheCache) {
  GraphOracle oracle(failsWithRelu);
  MemoryVerdictCache cache;
  const auto first = minify(mlp(9, 3), oracle, cache, {}, {}, {});
  ASSERT_TRUE(first.has_value());
  const int asked = oracle.asked;
  const auto second = minify(mlp(9, 3), oracle, cache, {}, {}, {});
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(oracle.asked, asked);
  EXPECT_EQ(second->tests, 0);
  EXPECT_GT(second->cacheHits, 0);
  EXPECT_EQ(names(second->candidate.module.graph), names(first->candidate.module.graph));
  EXPECT_EQ(second->steps.size(), first->steps.size());
}

TEST(Minify, StoppedInTheMiddleItResumesWhereItWas) {
  GraphOracle oracle(failsWithRelu);
  MemoryVerdictCache cache;
  MinifyOptions options;
  options.parallelQueries = 1;
  std::stop_source source;
  const MinifyObserver stopAtSecondStep = [&](const MinifyProgress& progress, const Candidate*) -> Result<void> {
    if (progress.step.index == 1 && progress.step.accepted) source.request_stop();
    return {};
  };
  const auto stopped = minify(mlp(17, 8), oracle, cache, options, stopAtSecondStep, source.get_token());
  ASSERT_TRUE(stopped.has_value());
  EXPECT_TRUE(stopped->cancelled);
  EXPECT_FALSE(stopped->oneMinimal);
  EXPECT_EQ(stopped->steps.size(), 2u);
  EXPECT_EQ(measure(stopped->candidate), stopped->steps.back().size);
  const int asked = oracle.asked;
  GraphOracle fresh(failsWithRelu);
  MemoryVerdictCache empty;
  const auto whole = minify(mlp(17, 8), fresh, empty, options, {}, {});
  const auto resumed = minify(mlp(17, 8), oracle, cache, options, {}, {});
  ASSERT_TRUE(whole.has_value() && resumed.has_value());
  EXPECT_EQ(oracle.asked, fresh.asked) << "nothing asked twice";
  EXPECT_GT(asked, 0);
  EXPECT_EQ(names(resumed->candidate.module.graph), names(whole->candidate.module.graph));
}

TEST(Minify, AnObserverErrorEndsTheSearch) {
  GraphOracle oracle(failsWithRelu);
  MemoryVerdictCache cache;
  const auto result = minify(
      mlp(3, 1), oracle, cache, {},
      [](const MinifyProgress&, const Candidate*) -> Result<void> { return fail(ErrorCode::Environment, "disk full"); },
      {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "disk full");
}

TEST(Minify, ResultDoesNotDependOnParallelQueries) {
  std::vector<std::vector<std::string>> results;
  for (int width : {1, 2, 7}) {
    GraphOracle oracle(failsWithRelu);
    MemoryVerdictCache cache;
    MinifyOptions options;
    options.parallelQueries = width;
    const auto result = minify(mlp(11, 5), oracle, cache, options, {}, {});
    ASSERT_TRUE(result.has_value());
    results.push_back(names(result->candidate.module.graph));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Minify, VotesOutAFlakyVerdict) {
  std::atomic<int> count = 0;
  GraphOracle oracle([&](const Candidate& candidate) {
    if (++count % 3 == 0) return fails("noise");  // one answer in three is wrong
    return failsWithRelu(candidate);
  });
  MemoryVerdictCache cache;
  MinifyOptions options;
  options.parallelQueries = 1;
  options.flakeVotes = 3;
  const auto result = minify(mlp(5, 2), oracle, cache, options, {}, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->fingerprint, "accuracy:magnitude");
  EXPECT_EQ(names(result->candidate.module.graph), (std::vector<std::string>{"addmm_2", "relu", "output"}));
}

TEST(Minify, AnOracleThatNeverAnswersIsGivenUp) {
  class Stuck : public Oracle {
   public:
    Result<Verdict> judge(const Candidate& candidate, std::stop_token stop) override {
      if (candidate.module.graph.size() > 3) return failsWithRelu(candidate);
      while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return fail(ErrorCode::Cancelled, "stopped");
    }
    std::string identity() const override { return "stuck"; }
  } oracle;
  MemoryVerdictCache cache;
  MinifyOptions options;
  options.candidateTimeout = std::chrono::milliseconds(100);
  options.parallelQueries = 8;
  CandidateBuilder b;
  const NodeId x = b.input("x", {1});
  const auto result = minify(b.finish({b.call(reluTarget, {b.call(reluTarget, {x})})}), oracle, cache, options, {}, {});
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(result->candidate.module.graph.size(), 4u);
  EXPECT_TRUE(result->oneMinimal);
}

}  // namespace
}  // namespace kerf
