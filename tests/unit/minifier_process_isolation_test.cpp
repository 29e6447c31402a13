// A child's end, whatever it is, must come back as an outcome.
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "engine/support/sanitizers.h"
#include "engine/support/thread_pool.h"
#include "minifier/oracle/process_isolation.h"

namespace kerf {
namespace {

using namespace std::chrono_literals;

TEST(RunIsolated, ReturnsWhatTheBodyReturned) {
  const auto outcome = runIsolated([] { return std::string(1'000'000, 'x') + '\0' + "end"; }, {});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->exit, IsolatedExit::Finished);
  EXPECT_EQ(outcome->payload, std::string(1'000'000, 'x') + '\0' + "end");
}

TEST(RunIsolated, ACrashIsAnOutcome) {
  const auto outcome = runIsolated(
      []() -> std::string {
        std::raise(SIGSEGV);
        return "";
      },
      {});
  EXPECT_EQ(outcome->exit, IsolatedExit::Crashed);
  EXPECT_EQ(outcome->signalName(), "SIGSEGV");
}

TEST(RunIsolated, AnExitWithoutAnAnswerIsACrash) {
  const auto outcome = runIsolated([]() -> std::string { ::_exit(3); }, {});
  EXPECT_EQ(outcome->exit, IsolatedExit::Crashed);
  EXPECT_EQ(outcome->signalName(), "exit 3");
}

TEST(RunIsolated, AHangEndsAtItsTimeout) {
  IsolationLimits limits;
  limits.timeout = 200ms;
  const auto outcome = runIsolated(
      []() -> std::string {
        for (;;) asm volatile("");
      },
      limits);
  EXPECT_EQ(outcome->exit, IsolatedExit::TimedOut);
  EXPECT_GE(outcome->time, limits.timeout);
}

TEST(RunIsolated, MemoryBeyondTheLimitDoesNotTakeTheParentDown) {
  IsolationLimits limits;
  limits.memoryBytes = 64 << 20;
  const auto outcome = runIsolated(
      []() -> std::string { return std::malloc(std::size_t{8} << 30) == nullptr ? "refused" : "granted"; }, limits);
  if (!addressSanitizer && !threadSanitizer) {  // they map terabytes, so that nothing is limited
    EXPECT_EQ(outcome->payload, "refused");
  }
}

TEST(RunIsolated, StopKillsTheChild) {
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(50ms);
    source.request_stop();
  });
  const auto outcome = runIsolated(
      []() -> std::string {
        std::this_thread::sleep_for(1h);
        return "late";
      },
      {.timeout = 1h}, source.get_token());
  EXPECT_EQ(outcome->exit, IsolatedExit::Cancelled);
}

TEST(RunIsolated, ChildrenSideBySideDoNotMixTheirAnswers) {
  std::vector<std::jthread> threads;
  std::array<std::string, 8> answers;
  for (std::size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&answers, i] { answers[i] = runIsolated([i] { return std::to_string(i); }, {})->payload; });
  threads.clear();
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i], std::to_string(i));
}

TEST(RunIsolated, ChildHasOneThread) {
  parallelFor(1000, 1, [](std::int64_t, std::int64_t) {});
  EXPECT_EQ(runIsolated([] { return std::to_string(threadCount()); }, {})->payload, "1");
}

}  // namespace
}  // namespace kerf
