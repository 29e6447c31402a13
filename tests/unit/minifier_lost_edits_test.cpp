// Edits at which Kerf itself crashes: each is lost, and the search is not.
#include <csignal>

#include <gtest/gtest.h>

#include "engine/process/crash_guard.h"
#include "engine/support/sanitizers.h"
#include "minifier/core/safe_building.h"
#include "minifier/core/search.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/reductions/reductions.h"
#include "tests/support/minifier_graphs.h"

namespace kerf {
namespace {

using namespace kerf::testing;

/// A crash is what these tests are about, and what sanitizers exist to end a process for.
class LostEdits : public ::testing::Test {
 protected:
  void SetUp() override {
    if (addressSanitizer || threadSanitizer) GTEST_SKIP() << "a sanitizer takes crashes for itself";
  }
};

void writeNowhere() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

/// Needs more stack than there is.
int fillTheStack(volatile int* depth) {
  if (*depth < 0) return 0;
  volatile char room[4096] = {};
  *depth = *depth + 1;
  return fillTheStack(depth) + room[*depth % 4096];
}

/// One edit that `spoils`, before those that work: the calls from the end of the graph on become their operands.
Reduction spoiled(std::function<void()> spoils) {
  const auto edits = [spoils = std::move(spoils)](const ReductionInput& input, ResumePoint resume) {
    std::vector<Edit> list = bypassOperand().edits(input, resume);
    const auto spoil = [spoils]() -> std::optional<Candidate> {
      spoils();
      return std::nullopt;
    };
    list.insert(list.begin(), Edit{{0}, spoil});
    return list;
  };
  return {"spoiled", "Crashes in its first edit.", edits};
}

Verdict failsWithRelu(const Candidate& candidate) {
  return calls(candidate.module.graph, reluTarget) ? fails("accuracy:magnitude") : passes();
}

Result<MinifyResult> searched(std::vector<Reduction> reductions) {
  GraphOracle oracle(failsWithRelu);
  MemoryVerdictCache cache;
  const MinifyOptions options;
  Search search(mlp(5, 2), {oracle, cache, options, {}, {}});
  return search.run(reductions);
}

TEST_F(LostEdits, ACrashLosesOneEdit) {
  const auto result = searched({spoiled(writeNowhere), searchSets(), removeUnused()});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->candidate.module.graph.size(), 3u);
  EXPECT_GT(result->lostEdits, 0);
  EXPECT_FALSE(result->oneMinimal) << "what could not be built was not asked about";
}

TEST_F(LostEdits, WhateverTheCrash) {
  volatile int depth = 0;
  const std::vector<std::function<void()>> crashes{[] { std::abort(); }, [] { ::raise(SIGFPE); },
                                                   [&] { (void)fillTheStack(&depth); }};
  for (const auto& crash : crashes) {
    const auto result = searched({spoiled(crash), searchSets(), removeUnused()});
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->candidate.module.graph.size(), 3u);
  }
}

TEST_F(LostEdits, AfterTheFirstCrashTheyHappenElsewhere) {
  SafeBuilding safe;
  int here = 0;
  const auto crash = [&]() -> std::optional<Candidate> {
    ++here;
    writeNowhere();
    return std::nullopt;
  };
  EXPECT_FALSE(safe.build("test", crash));
  const int first = here;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(safe.build("test", crash));
  EXPECT_EQ(here, first);
  EXPECT_EQ(safe.losses(), 4);
  EXPECT_TRUE(safe.build("test", [] { return mlp(1, 0); })) << "what works is built here";
}

TEST_F(LostEdits, ExceptionsAreLostEditsToo) {
  SafeBuilding safe;
  EXPECT_FALSE(safe.build("test", []() -> std::optional<Candidate> { throw std::runtime_error("planted"); }));
  const Candidate candidate = mlp(1, 0);
  const ReductionInput input{candidate};
  const auto edits = [](const ReductionInput&, ResumePoint) -> std::vector<Edit> { throw std::bad_alloc(); };
  EXPECT_TRUE(safe.edits({"throws", "Throws.", edits}, input, {}).empty());
  EXPECT_EQ(safe.losses(), 2);
}

TEST_F(LostEdits, NothingStaysBehind) {
  struct sigaction before{}, after{};
  ASSERT_EQ(::sigaction(SIGSEGV, nullptr, &before), 0);
  EXPECT_EQ(crashOf(writeNowhere), SIGSEGV);
  EXPECT_EQ(crashOf([] { EXPECT_EQ(crashOf([] { std::abort(); }), SIGABRT); }), std::nullopt) << "guards nest";
  EXPECT_EQ(crashOf([] {}), std::nullopt);
  EXPECT_THROW(crashOf([] { throw 1; }), int);
  ASSERT_EQ(::sigaction(SIGSEGV, nullptr, &after), 0);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  EXPECT_EXIT(writeNowhere(), ::testing::KilledBySignal(SIGSEGV), "") << "what is not guarded crashes as ever";
}

}  // namespace
}  // namespace kerf
