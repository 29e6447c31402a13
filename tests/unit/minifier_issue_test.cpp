// The issue about a minified failure: its words, its fences, and the closest graph that passes.
#include <gtest/gtest.h>

#include "minifier/core/verdict_cache.h"
#include "minifier/reductions/reductions.h"
#include "minifier/report/closest_passing.h"
#include "minifier/report/injected_fault.h"
#include "minifier/report/issue_text.h"
#include "tests/support/minifier_graphs.h"

namespace kerf {
namespace {

Candidate reluOnly() { return testing::mlp(1, 0); }

TEST(MinifierIssue, FailuresAreNamedByTheBeginningOfTheFingerprint) {
  EXPECT_EQ(failureSentence("accuracy:nan"), "the compiled graph returns NaN where eager does not");
  EXPECT_EQ(failureSentence("compile:CppCompileError:error: x"), "compiling the graph raises an exception");
  EXPECT_EQ(failureSentence("runtime_error:x"), "running the compiled graph raises an exception");
  EXPECT_EQ(failureSentence("something new"), "compiling or running the graph fails");
  EXPECT_EQ(accuracyOption("accuracy:magnitude"), "True");
  EXPECT_EQ(accuracyOption("accuracy:strides"), "False");  // PyTorch's accuracy check does not look at them
  EXPECT_EQ(accuracyOption("crash:SIGSEGV:run"), "False");
  EXPECT_NE(expectedOfRun("accuracy:nan", "").find("AccuracyError"), std::string::npos);
  EXPECT_NE(expectedOfRun("accuracy:nan", "relu=accuracy").find("no failure"), std::string::npos);
}

TEST(MinifierIssue, TheClosestPassingGraphDiffersInTheFewestLines) {
  const Candidate failing = reluOnly();
  testing::GraphOracle oracle([](const Candidate& candidate) {
    return testing::calls(candidate.module.graph, testing::reluTarget) ? testing::fails("f") : testing::passes();
  });
  MemoryVerdictCache cache;
  const auto reductions = allReductions();
  const auto found = closestPassing(failing, reductions, {oracle, cache, {}, 8}, {});
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_TRUE(*found);
  EXPECT_FALSE(testing::calls((*found)->candidate.module.graph, testing::reluTarget));
  EXPECT_LE(oracle.asked, 8);
  EXPECT_FALSE((*found)->description.empty());

  testing::GraphOracle never([](const Candidate&) { return testing::fails("f"); });
  MemoryVerdictCache empty;
  const auto none = closestPassing(failing, reductions, {never, empty, {}, 3}, {});
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  EXPECT_EQ(never.asked, 3);
}

TEST(MinifierIssue, AsksNothingThatIsKnown) {
  const Candidate failing = reluOnly();
  testing::GraphOracle oracle([](const Candidate&) { return testing::passes(); });
  class AllPass : public VerdictCache {
   public:
    std::optional<Verdict> find(const std::string&) override { return testing::passes(); }
    void put(const std::string&, const Verdict&) override {}
  } cache;
  const auto found = closestPassing(failing, allReductions(), {oracle, cache, {}, 8}, {});
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(oracle.asked, 0);
}

TEST(MinifierIssue, AFaultThatPyTorchPlantsIsNotKerfs) {
  ReproEnvelope envelope;
  EXPECT_EQ(injectedFault(envelope), "");
  EXPECT_EQ(faultOfKerfAlone("relu=accuracy", envelope), "relu=accuracy");
  envelope.configLines = {"torch._inductor.config.triton.inject_relu_bug_TESTING_ONLY = None",
                          "torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = 'accuracy'"};
  EXPECT_EQ(injectedFault(envelope), "relu=accuracy");
  EXPECT_EQ(faultOfKerfAlone("relu=accuracy", envelope), "");
  EXPECT_EQ(faultOfKerfAlone("relu=compile_error", envelope), "relu=compile_error");
  IssueFacts facts;
  facts.fingerprint = "accuracy:magnitude";
  facts.injected = "relu=accuracy";
  const std::string text = issueText(facts, reluOnly().module);
  EXPECT_NE(text.find("planted by PyTorch itself"), std::string::npos) << text;
  EXPECT_EQ(text.find("planted by Kerf"), std::string::npos) << text;
  EXPECT_NE(text.find("AccuracyError"), std::string::npos) << text;
}

TEST(MinifierIssue, TextOfStrangersStaysInItsFence) {
  IssueFacts facts;
  facts.fingerprint = "compile_error:`x`\n# heading";
  facts.oracle = "command ./check";
  facts.repro = "text = '''\n```\n'''\n";
  facts.startNodes = 87;
  facts.nodes = 3;
  facts.judged = 8;
  facts.steps = 4;
  facts.oneMinimal = true;
  facts.closest = IssueDifference{"shrink_dims", "Makes sizes smaller.", "@@ -1 +1 @@\n-a\n+b\n"};
  const std::string text = issueText(facts, reluOnly().module);
  EXPECT_NE(text.find("`` compile_error:`x` # heading ``"), std::string::npos) << text;
  EXPECT_NE(text.find("````python\ntext"), std::string::npos);
  EXPECT_NE(
      text.find("- minified by Kerf: 87 -> 3 nodes, 8 graphs judged, 4 accepted; no single edit makes it smaller\n"),
      std::string::npos);
  EXPECT_NE(text.find("One edit apart (`shrink_dims`): Makes sizes smaller."), std::string::npos);
  EXPECT_NE(text.find("```diff\n@@ -1 +1 @@\n-a\n+b\n```\n"), std::string::npos);
  EXPECT_EQ(text, issueText(facts, reluOnly().module));
  EXPECT_TRUE(text.starts_with("# torch.compile: compile error in aten.")) << text;
}

}  // namespace
}  // namespace kerf
