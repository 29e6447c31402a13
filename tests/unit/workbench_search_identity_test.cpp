// What the store says of how a reduction was made, and what going back leaves there.
#include <gtest/gtest.h>

#include "app/workbench/engine_options.h"
#include "app/workbench/minify/reduction_log.h"
#include "app/workbench/minify/search_identity.h"
#include "app/workbench/protocol/job_control.h"
#include "app/workbench/workbench.h"
#include "minifier/oracle/engine_oracle.h"
#include "tests/support/minifier_graphs.h"
#include "tests/support/workbench_fixture.h"

namespace kerf::workbench {
namespace {

class NamedOracle : public Oracle {
 public:
  NamedOracle(std::string identity, std::string circumstances)
      : m_identity(std::move(identity)), m_circumstances(std::move(circumstances)) {}
  Result<Verdict> judge(const Candidate&, std::stop_token) override { return Verdict{}; }
  std::string identity() const override { return m_identity; }
  std::string circumstances() const override { return m_circumstances; }

 private:
  std::string m_identity, m_circumstances;
};

TEST(SearchIdentity, ItsTextIsReadAsItWasWritten) {
  MinifyRequest request{{"a.py"}};
  request.votes = 3;
  request.flaky = 20;
  request.graph.inputs = "zeros";
  request.pins = {"add", "mul_1"};
  const auto match = FailureMatch::pattern("x votes=7 [y] flaky=2");
  ASSERT_TRUE(match);
  const NamedOracle oracle("command sh -c 'test [ votes=9 ]' limit=5ms", " [verdicts=2 files=ab environment=cd]");
  const auto made = SearchIdentity::of(oracle, request, *match);
  const auto read = SearchIdentity::parse(made.text());
  EXPECT_EQ(read.oracle, oracle.identity());
  EXPECT_EQ(read.circumstances, oracle.circumstances());
  EXPECT_EQ(read.rule.votes, 3);
  EXPECT_EQ(read.rule.flakyStarts, 20);
  EXPECT_EQ(read.rest, " inputs=zeros seed=1801810534 match=/x votes=7 [y] flaky=2/ pins=add,mul_1");
  EXPECT_EQ(read.text(), made.text());
  EXPECT_EQ(read.plants(), "");
  const Candidate candidate = testing::mlp(1, 0);
  EXPECT_EQ(VerdictKeys(read.judge(), read.rule).of(candidate), VerdictKeys(oracle, made.rule).of(candidate));
  EXPECT_NE(VerdictKeys(oracle, {3, 0}).of(candidate), VerdictKeys(oracle, {3, 20}).of(candidate));
}

TEST(SearchIdentity, KnowsThePlantedFaults) {
  EngineOracleOptions options;
  const auto faults = parsePlants({"relu=accuracy", "pass:cse=crash"});
  ASSERT_TRUE(faults);
  options.compile.faults = *faults;
  const EngineOracle oracle(options);
  EXPECT_EQ(SearchIdentity::of(oracle, {}, {}).plants(), faults->text());
  EXPECT_EQ(SearchIdentity::of(EngineOracle({}), {}, {}).plants(), "");
  EXPECT_EQ(SearchIdentity::parse("of an older kerf").oracle, "of an older kerf");
}

StepRow step(int index, const std::string& reduction, const std::string& hash) {
  StepRow row;
  row.index = index;
  row.reduction = reduction;
  row.graphHash = hash;
  return row;
}

TEST(ReductionLogTest, WhatWasUndoneIsTheStepBehindTheOneGoneBackTo) {
  EXPECT_TRUE(undoneSteps({step(0, "start", "a"), step(1, "delta", "b")}).empty());
  const auto undone =
      undoneSteps({step(0, "start", "a"), step(1, "delta", "b"), step(2, "delta", "c"), step(3, "undo", "a"),
                   step(4, "delta", "d"), step(5, "delta", "e"), step(6, "undo", "d"), step(7, "delta", "f")});
  ASSERT_EQ(undone.size(), 2u);
  EXPECT_EQ(undone[0].graphHash, "b");
  EXPECT_EQ(undone[1].graphHash, "e");
}

class UndoTest : public WorkbenchTest {
 protected:
  /// Minifies the sample; undoes the third step, stops at the next event after that where `stops`.
  Result<Minified> minified(bool undoes, std::vector<std::string>* accepted = nullptr) {
    using Wish = ControlMessage::Wish;
    Workbench bench({.store = store(), .program = kerf});
    const auto control = undoes ? std::make_shared<JobControl>() : nullptr;
    std::stop_source stop;
    int steps = 0;
    MinifyRequest request{{sample}};
    request.oracle.plants = {"relu=accuracy"};
    request.jobs = 1;
    request.place = MinifyRequest::ReproPlace::Store;
    const auto hear = [&](const JobEvent& event) {
      const auto* query = std::get_if<MinifyEvent>(&event);
      const auto* work = std::get_if<MinifyWorkEvent>(&event);
      if (work && undoes && steps > 3 && work->kind == MinifyWorkEvent::Kind::ReductionBegins) stop.request_stop();
      if (!query || !query->accepted) return;
      if (accepted) accepted->push_back(fmt::format("{} {}", query->reduction, query->nodes));
      if (undoes && ++steps == 3) control->send({Wish::Undo, 1}), ++steps;
    };
    return bench.perform(request, {hear, stop.get_token(), control});
  }
};

TEST_F(UndoTest, ASearchThatIsStoppedAfterItGoesOnFromTheStepGoneBackTo) {
  std::vector<std::string> before, after;
  const auto stopped = minified(true, &before);
  ASSERT_TRUE(stopped) << stopped.error().text();
  ASSERT_TRUE(stopped->cancelled);
  ASSERT_EQ(before.size(), 3u);
  Workbench bench({.store = store(), .program = kerf});
  const auto shown = bench.perform(StepsRequest{stopped->reductionId});
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->size(), 3u) << "the way back is no step of its own";
  const auto resumed = minified(false, &after);
  ASSERT_TRUE(resumed) << resumed.error().text();
  EXPECT_TRUE(resumed->resumed);
  ASSERT_GE(after.size(), 2u);
  const auto nodes = [](const std::string& step) { return step.substr(step.find(' ') + 1); };
  EXPECT_EQ(nodes(after[0]), nodes(before[1])) << "from the step that somebody went back to";
  EXPECT_NE(after[1], before[2]) << "and not to the one that was undone";
  EXPECT_EQ(resumed->nodes, 3);
}

}  // namespace
}  // namespace kerf::workbench
