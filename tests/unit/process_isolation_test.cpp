// A child's end, whatever it is, must come back as an outcome.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/process/fork_gate.h"
#include "engine/process/isolation.h"
#include "engine/process/program.h"
#include "engine/support/sanitizers.h"
#include "engine/support/thread_pool.h"
#include "tests/support/patience.h"
#include "tests/support/processes.h"

namespace kerf {
namespace {

using namespace std::chrono_literals;

/// Nothing is to be out of time where the machine is slow.
const IsolationLimits patient{.timeout = test::patience};

template <class Body>
IsolatedAnswer<std::string> isolated(Body body, const IsolationLimits& limits = patient, std::stop_token stop = {}) {
  const std::function<Result<std::string>(const SendEvent&)> work = [&](const SendEvent&) { return body(); };
  auto answer = callIsolated<std::string>(work, limits, std::move(stop));
  EXPECT_TRUE(answer.has_value());
  return answer.value_or(IsolatedAnswer<std::string>{});
}

TEST(CallIsolated, ReturnsWhatTheBodyReturned) {
  std::string large(1'000'000, 'x');
  large[500'000] = '\0';
  const auto answer = isolated([large] { return large; });
  EXPECT_EQ(answer.outcome.exit, IsolatedExit::Finished);
  EXPECT_EQ(answer.answer->value(), large);
}

TEST(CallIsolated, ReturnsTheBodysError) {
  const auto answer = isolated([]() -> Result<std::string> {
    auto error = Error{ErrorCode::UnsupportedOp, "no such op"};
    return fail(error.atNode("odd").while_("running"));
  });
  EXPECT_EQ(answer.outcome.exit, IsolatedExit::Finished);
  ASSERT_FALSE(answer.answer->has_value());
  EXPECT_EQ(answer.answer->error().code, ErrorCode::UnsupportedOp);
  EXPECT_EQ(answer.answer->error().text(), "node odd: no such op (running)");
}

TEST(CallIsolated, MemoryThatTheLimitRefusesIsAnError) {
  if (addressSanitizer || threadSanitizer) GTEST_SKIP() << "a sanitizer maps terabytes";
  IsolationLimits limits{.timeout = test::patience, .memoryBytes = 256 << 20};
  const auto fill = [] { return std::string(1 << 30, 'x'); };
  const auto fillInAPiece = [&] {
    std::atomic<std::size_t> bytes = 0;
    parallelFor(4, 1, [&](std::int64_t begin, std::int64_t end) {
      if (begin <= 3 && 3 < end) bytes = fill().size();
    });
    return std::to_string(bytes);
  };
  const auto check = [&](const IsolatedAnswer<std::string>& answer) {
    EXPECT_EQ(answer.outcome.exit, IsolatedExit::Finished) << answer.outcome.signalName();
    ASSERT_TRUE(answer.answer.has_value());
    ASSERT_FALSE(answer.answer->has_value());
    EXPECT_EQ(answer.answer->error().code, ErrorCode::TooLarge);
    EXPECT_NE(answer.answer->error().message.find("cannot have more memory: its address space is limited to"),
              std::string::npos);
  };
  check(isolated(fill, limits));
  check(isolated([] { return std::string(120 << 20, 'x'); }, limits));  // there, but its message is not
  limits.threads = 2;
  check(isolated(fillInAPiece, limits));
}

/// Waits until `flag` is set by another thread.
void await(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

TEST(CallIsolated, AChildFindsWorkOfOtherThreadsDone) {
  std::atomic<bool> begun = false, forks = false, done = false;
  std::thread worker([&] {
    withoutForks([&] {
      begun = true;
      await(forks);
      std::this_thread::sleep_for(50ms);
      done = true;
    });
  });
  await(begun);
  forks = true;
  const auto answer = isolated([&] { return std::string(done ? "done" : "half done"); });
  worker.join();
  ASSERT_TRUE(answer.answer && answer.answer->has_value());
  EXPECT_EQ(answer.answer->value(), "done");
}

TEST(CallIsolated, WorkPieceByPieceLetsForksIn) {
  std::atomic<bool> stop = false;
  std::thread worker([&] {
    while (!stop) withoutForks([] { std::this_thread::sleep_for(1ms); });
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(isolated([] { return std::string("in"); }).outcome.exit, IsolatedExit::Finished);
  stop = true;
  worker.join();
}

TEST(CallIsolated, ACrashIsAnOutcome) {
  const auto answer = isolated([]() -> std::string {
    std::raise(SIGSEGV);
    return "";
  });
  EXPECT_EQ(answer.outcome.exit, IsolatedExit::Crashed);
  EXPECT_EQ(answer.outcome.signalName(), "SIGSEGV");
  EXPECT_FALSE(answer.answer);
}

TEST(CallIsolated, AnExitWithoutAnAnswerIsACrash) {
  const auto answer = isolated([]() -> std::string { ::_exit(3); });
  EXPECT_EQ(answer.outcome.exit, IsolatedExit::Crashed);
  EXPECT_EQ(answer.outcome.signalName(), "exit 3");
}

TEST(CallIsolated, AHangEndsAtItsTimeout) {
  IsolationLimits limits;
  limits.timeout = 200ms;
  const auto answer = isolated(
      []() -> std::string {
        for (;;) asm volatile("");
      },
      limits);
  EXPECT_EQ(answer.outcome.exit, IsolatedExit::TimedOut);
  EXPECT_GE(answer.outcome.time, limits.timeout);
}

TEST(CallIsolated, MemoryBeyondTheLimitDoesNotTakeTheParentDown) {
  IsolationLimits limits = patient;
  limits.memoryBytes = 64 << 20;
  const auto answer = isolated(
      []() -> std::string { return std::malloc(std::size_t{8} << 30) == nullptr ? "refused" : "granted"; }, limits);
  if (!addressSanitizer && !threadSanitizer) {  // they map terabytes, so that nothing is limited
    EXPECT_EQ(answer.answer->value(), "refused");
  }
}

TEST(CallIsolated, StopKillsTheChild) {
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(50ms);
    source.request_stop();
  });
  const auto answer = isolated(
      []() -> std::string {
        std::this_thread::sleep_for(1h);
        return "late";
      },
      {.timeout = 1h}, source.get_token());
  EXPECT_EQ(answer.outcome.exit, IsolatedExit::Cancelled);
}

TEST(CallIsolated, ChildrenSideBySideDoNotMixTheirAnswers) {
  std::vector<std::jthread> threads;
  std::array<std::string, 8> answers;
  for (std::size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&answers, i] {
      const auto result = isolated([i] { return std::to_string(i); });
      const bool answered = result.answer && result.answer->has_value();
      answers[i] = answered ? result.answer->value() : "none, " + result.outcome.signalName();
    });
  threads.clear();
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i], std::to_string(i));
}

TEST(CallIsolated, ChildHasAsManyThreadsAsItsLimitsSay) {
  parallelFor(1000, 1, [](std::int64_t, std::int64_t) {});
  const auto threads = [] { return std::to_string(threadCount()); };
  EXPECT_EQ(isolated(threads).answer->value(), "1");
  IsolationLimits limits = patient;
  limits.threads = 0;
  EXPECT_EQ(isolated(threads, limits).answer->value(), std::to_string(threadCount()));
}

TEST(CallIsolated, EventsArriveEvenFromAChildThatDies) {
  std::vector<int> events;
  const std::function<Result<int>(const SendEvent&)> body = [](const SendEvent& send) -> Result<int> {
    for (const int event : {3, 5, 8}) send(encode(event));
    std::abort();
  };
  const auto answer = callIsolated<int>(
      body, patient, {}, [&](std::string_view bytes) { events.push_back(decode<int>(bytes, "an event").value()); });
  EXPECT_EQ(answer->outcome.signalName(), "SIGABRT");
  EXPECT_EQ(events, (std::vector{3, 5, 8}));
}

/// Generated code computes; what went wrong there must not be able to do more.
TEST(CallIsolated, AChildStartsNoProgramsAndItsChildrenEndWithIt) {
  const auto tried = isolated([] {
    ::execl("/bin/true", "true", nullptr);
    return std::string(std::strerror(errno));
  });
  if (!addressSanitizer && !threadSanitizer) {  // their reports start programs
    ASSERT_TRUE(tried.answer);
    EXPECT_EQ(tried.answer->value(), std::strerror(EPERM));
  }
  const auto forked = isolated([] {
    const pid_t pid = ::fork();
    while (pid == 0) ::pause();
    return std::to_string(pid);
  });
  ASSERT_TRUE(forked.answer);
  const pid_t left = std::stoi(forked.answer->value());
  EXPECT_TRUE(test::waitUntil([&] { return !test::lives(left); })) << "the child of a child is left";
  EXPECT_LT(forked.outcome.time, patient.timeout) << "nobody waits for it";
}

#if defined(__x86_64__)
/// The kernel takes i386's calls and those of x32 from any process, by other numbers.
TEST(CallIsolated, AChildMakesNoCallsOfOtherMachines) {
  if (addressSanitizer || threadSanitizer) GTEST_SKIP() << "nothing is forbidden";
  const auto i386 = isolated([] {
    long answer = 20;  // getpid
    asm volatile("int $0x80" : "+a"(answer)::"memory", "r8", "r9", "r10", "r11");
    return std::to_string(answer);
  });
  if (i386.answer) {
    EXPECT_EQ(i386.answer->value(), std::to_string(-EPERM));
  } else {
    EXPECT_EQ(i386.outcome.signalName(), "SIGSEGV");  // of a kernel that has none of them
  }
  const auto x32 = isolated([] {
    constexpr long getpid = 0x40000000 + 39;
    const long answer = ::syscall(getpid);
    return fmt::format("{}: {}", answer, std::strerror(errno));
  });
  ASSERT_TRUE(x32.answer);
  EXPECT_EQ(x32.answer->value(), std::string("-1: ") + std::strerror(EPERM));
}
#endif

/// A child that may start no program gets an error for it, and lives on: its guardian was told to end the child's own group.
TEST(CallIsolated, AProgramThatIsRefusedEndsNothing) {
  if (addressSanitizer || threadSanitizer) GTEST_SKIP() << "nothing is forbidden";
  const auto answer = isolated([]() -> Result<std::string> {
    const auto ran = runProgram({"/bin/true"}, "", test::patience);
    return ran ? "it ran" : ran.error().message;
  });
  EXPECT_EQ(answer.outcome.exit, IsolatedExit::Finished);
  ASSERT_TRUE(answer.answer);
  EXPECT_EQ(answer.answer->value(), "cannot start /bin/true: Operation not permitted");
}

/// A child whose memory went wrong may write anything into its pipe.
TEST(CallIsolated, NonsenseFromTheChildIsACrash) {
  const auto answer = isolated([]() -> std::string {
    for (int file = 3; file < 256; ++file) {
      struct stat status{};
      if (::fstat(file, &status) == 0 && S_ISFIFO(status.st_mode)) (void)!::write(file, "this is no frame at all", 23);
    }
    return "answer";
  });
  EXPECT_EQ(answer.outcome.exit, IsolatedExit::Crashed);
}

}  // namespace
}  // namespace kerf
