// A command of which nothing may be left, and which may use no more than it was given: in a PID namespace where the
// system makes one, and under a subreaper.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include <sys/resource.h>
#include <sys/wait.h>

#include "engine/process/clean_environment.h"
#include "engine/process/program.h"
#include "tests/support/contained_test.h"

namespace kerf {
namespace {

INSTANTIATE_TEST_SUITE_P(Both, Contained, ::testing::Values(Containment::Namespace, Containment::Subreaper),
                         nameOfContainment);

TEST_P(Contained, GivesExitCodeOutputAndErrors) {
  const auto result = run("pwd; echo bad >&2; exit 3");
  EXPECT_EQ(result.end, ContainedEnd::Exited);
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output.text(), m_folder.path().string() + "\n");
  EXPECT_EQ(result.errors.text(), "bad\n");
  EXPECT_EQ(result.leftovers, 0);
}

TEST_P(Contained, ASignalIsAnEndOfItsOwn) {
  const auto result = run("kill -SEGV $$");
  EXPECT_EQ(result.end, ContainedEnd::Signalled);
  EXPECT_EQ(result.status, SIGSEGV);
}

/// `nice kerf minify` makes what it starts nice, though its supervisors go first.
TEST_P(Contained, IsAsNiceAsItsStarter) {
  const int niceness = std::min(19, ::getpriority(PRIO_PROCESS, 0) + 1);
  ASSERT_EQ(::setpriority(PRIO_PROCESS, 0, niceness), 0);
  EXPECT_EQ(run("nice").output.text(), std::to_string(niceness) + "\n");
}

TEST_P(Contained, WhatCannotStartIsAnError) {
  const auto result = runContained({.arguments = {"/nowhere/program"}, .folder = "/", .containment = GetParam()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Environment);
  EXPECT_EQ(result.error().message, "cannot start /nowhere/program: No such file or directory");
}

TEST_P(Contained, BackgroundProcessesEndWithTheCommand) {
  const auto result = run("sleep MARK & exit 0");
  EXPECT_EQ(result.end, ContainedEnd::Exited);
  EXPECT_EQ(result.leftovers, 1);
  expectNothingLeft();
}

TEST_P(Contained, ADaemonWithASessionOfItsOwnEndsToo) {
  const auto result =
      run("(setsid sh -c 'exec </dev/null >/dev/null 2>&1 3>&- 4>&-; sleep MARK & : > up; sleep MARK' &) ; "
          "until [ -e up ]; do sleep 0.02; done; exit 1");
  EXPECT_EQ(result.end, ContainedEnd::Exited);
  EXPECT_EQ(result.status, 1);
  EXPECT_GE(result.leftovers, 2);
  expectNothingLeft();
}

TEST_P(Contained, ABurstOfProcessesIsEnded) {
  const auto result = run("i=0; while [ $i -lt 300 ]; do sleep MARK & i=$((i+1)); done; exit 0");
  EXPECT_EQ(result.end, ContainedEnd::Exited);
  EXPECT_EQ(result.leftovers, 300);
  expectNothingLeft();
}

TEST_P(Contained, MoreProcessesThanAllowedEndTheCommand) {
  const auto result = run("while :; do sleep MARK & done", {.processes = 40});
  EXPECT_EQ(result.end, ContainedEnd::Processes);
  expectNothingLeft();
}

/// Each starts two more: the supervisor must see it, and get to run, while there are few of them.
TEST_P(Contained, AForkBombIsEndedWhileItIsSmall) {
  const auto result = run("f() { f & f & sleep MARK; }; f", {.processes = 20});
  EXPECT_EQ(result.end, ContainedEnd::Processes);
  expectNothingLeft();
}

TEST_P(Contained, TwoGigabytesOfOutputAreAVerdictAndLittleMemory) {
  const auto all = run("head -c 2000000000 /dev/zero", {.outputBytes = 4LL << 30});
  EXPECT_EQ(all.end, ContainedEnd::Exited);
  EXPECT_EQ(all.output.bytes(), 2'000'000'000);
  EXPECT_LT(all.output.text().size(), 200'000u);
  EXPECT_TRUE(waitUntil([&] {  // the supervisor that is to end it may not get to run at once
    const auto most = run("yes MARK >&2", {.outputBytes = 1 << 20});
    EXPECT_EQ(most.end, ContainedEnd::Output);
    return most.errors.bytes() < 64 << 20;
  }));
  expectNothingLeft();
}

TEST_P(Contained, MemoryIsThatOfAllProcessesTogether) {
  // Each shell holds some 30 MB: none is over the limit by itself.
  const std::string hog = "sh -c 'x=$(head -c 15000000 /dev/zero | tr \"\\0\" x); y=$x$x; sleep MARK' &";
  const auto result = run(hog + hog + hog + hog + hog + hog + " wait", {.memoryBytes = 120 << 20});
  EXPECT_EQ(result.end, ContainedEnd::Memory);
  expectNothingLeft();
}

TEST_P(Contained, AFileOverItsLimitEndsItsWriter) {
  const auto result = run("head -c 3000000 /dev/zero > big; exit $?", {.fileBytes = 1'000'000});
  EXPECT_EQ(result.status, 128 + SIGXFSZ);
  EXPECT_EQ(std::filesystem::file_size(m_folder.path() / "big"), 1'000'000u);
}

/// kerf ignores the signal, so that a full disk is an error of its own.
class IgnoresFileLimit {
 public:
  IgnoresFileLimit() : m_before(std::signal(SIGXFSZ, SIG_IGN)) {}
  ~IgnoresFileLimit() { std::signal(SIGXFSZ, m_before); }

 private:
  void (*m_before)(int);
};

TEST_P(Contained, SignalsThatItsStarterIgnoresEndItAsUsual) {
  const IgnoresFileLimit ignores;
  const auto result = run("head -c 3000000 /dev/zero > big; exit $?", {.fileBytes = 1'000'000});
  EXPECT_EQ(result.status, 128 + SIGXFSZ);
}

TEST(Program, SignalsThatItsStarterIgnoresEndItAsUsual) {
  const IgnoresFileLimit ignores;
  const auto ended = runProgram({"/bin/sh", "-c", "kill -s XFSZ $$; exit 7"}, "", test::patience);
  ASSERT_TRUE(ended) << ended.error().text();
  EXPECT_EQ(ended->status, 128 + SIGXFSZ);
  // runProgram ignores that one
  const auto piped = runProgram({"/bin/sh", "-c", "kill -s PIPE $$; exit 7"}, "", test::patience);
  ASSERT_TRUE(piped) << piped.error().text();
  EXPECT_EQ(piped->status, 128 + SIGPIPE);
}

TEST_P(Contained, AStoppedProcessIsEndedAtTheTimeout) {
  const auto result = run("kill -STOP $$; sleep MARK", {}, 300ms);
  EXPECT_EQ(result.end, ContainedEnd::TimedOut);
  EXPECT_LT(m_time, test::patience);
  expectNothingLeft();
}

TEST_P(Contained, SigtermMayBeUsedToTidyUpAndMayBeIgnored) {
  std::chrono::milliseconds timeout = 300ms;
  EXPECT_TRUE(waitUntil([&] {  // a busy machine may take longer to set the trap, or to spring it
    const auto tidy = run("trap 'echo tidied; exit 0' TERM; while :; do sleep 0.05; done", {}, timeout);
    EXPECT_EQ(tidy.end, ContainedEnd::TimedOut);
    timeout *= 2;
    return tidy.output.text() == "tidied\n";
  }));
  const auto deaf = run("trap '' TERM; sleep MARK & while :; do sleep 0.05; done", {}, 300ms);
  EXPECT_EQ(deaf.end, ContainedEnd::TimedOut);
  EXPECT_LT(m_time, test::patience);
  expectNothingLeft();
}

TEST_P(Contained, StoppingEndsEverything) {
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(100ms);
    source.request_stop();
  });
  const auto result = run("setsid sleep MARK & sleep MARK", {}, 1h, source.get_token());
  EXPECT_EQ(result.end, ContainedEnd::Cancelled);
  expectNothingLeft();
}

/// Seeded points: a little before, while and after the command starts what it leaves.
TEST_P(Contained, NothingOutlivesAKilledStarter) {
  for (const auto delay : {0ms, 1ms, 3ms, 7ms, 20ms, 60ms}) {
    const pid_t starter = ::fork();
    if (starter == 0) {
      run("setsid sleep MARK & (sleep MARK &) ; sleep MARK");
      ::_exit(0);
    }
    std::this_thread::sleep_for(delay);
    ::kill(starter, SIGKILL);
    ::waitpid(starter, nullptr, 0);
    EXPECT_TRUE(waitUntil([&] { return countMarked(m_mark) == 0; })) << delay.count();
  }
}

/// A command whose supervisor gets a signal while it runs.
class LosingItsSupervisor : public Contained {
 protected:
  /// Whether the command was there to lose it.
  bool attack(int signal) const {
    const auto supervisors = test::childrenNamed(::getpid(), "kerf-supervisor");
    if (countMarked(m_mark) == 0 || supervisors.empty()) return false;
    for (const pid_t supervisor : supervisors) ::kill(supervisor, signal);
    return true;
  }
  /// nullopt: its time was over before the attack.
  std::optional<Result<ContainedResult>> attacked(int signal, std::chrono::milliseconds timeout) const {
    std::atomic<bool> hit = false, over = false;
    std::jthread attacker([&] {
      waitUntil([&] {
        hit = attack(signal);
        return hit || over;
      });
    });
    const std::string script = "sleep " + m_mark;
    auto result = runContained({.arguments = {"/bin/sh", "-c", script + " & " + script},
                                .folder = "/",
                                .timeout = timeout,
                                .containment = GetParam()});
    over = true;
    attacker.join();
    if (!hit) return std::nullopt;
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(Both, LosingItsSupervisor, ::testing::Values(Containment::Namespace, Containment::Subreaper),
                         nameOfContainment);

TEST_P(LosingItsSupervisor, ByAKillIsAnErrorAndLeavesNothing) {
  const auto result = attacked(SIGKILL, test::patience);
  ASSERT_TRUE(result);
  EXPECT_FALSE(*result);
  EXPECT_TRUE(waitUntil([&] { return countMarked(m_mark) == 0; }));
}

TEST_P(LosingItsSupervisor, ByAStopForGoodIsATimeoutAndLeavesNothing) {
  std::optional<Result<ContainedResult>> result;
  std::chrono::milliseconds timeout = 1s;
  EXPECT_TRUE(waitUntil([&] {
    result = attacked(SIGSTOP, std::exchange(timeout, 2 * timeout));
    return result.has_value();
  }));
  ASSERT_TRUE(result && *result);
  EXPECT_EQ((*result)->end, ContainedEnd::TimedOut);
  EXPECT_TRUE(waitUntil([&] { return countMarked(m_mark) == 0; }));
}

TEST_P(Contained, ACleanEnvironmentHoldsTheAllowlist) {
  ::setenv("KERF_TEST_TOKEN", "secret", 1);
  ::setenv("KERF_TEST_KEPT", "kept", 1);
  EXPECT_NE(run("env").output.text().find("KERF_TEST_TOKEN=secret"), std::string::npos);
  const auto clean = run("env", {.cleanEnvironment = true, .keptVariables = {"KERF_TEST_KEPT"}}).output.text();
  EXPECT_EQ(clean.find("KERF_TEST_TOKEN"), std::string::npos);
  EXPECT_NE(clean.find("KERF_TEST_KEPT=kept"), std::string::npos);
  EXPECT_NE(clean.find("PATH="), std::string::npos);
}

TEST_P(Contained, WithoutANetworkThereIsOnlyALoopback) {
  if (!containmentSupport().noNetworkWhy.empty()) {
    const auto refused = runContained({.arguments = {"/bin/true"}, .folder = "/", .limits = {.network = false}});
    EXPECT_EQ(refused.error().code, ErrorCode::Environment);
    EXPECT_NE(refused.error().message.find(containmentSupport().noNetworkWhy), std::string::npos);
    return;
  }
  const auto result = run("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", {.network = false});
  EXPECT_EQ(result.output.text(), "lo\n");
}

TEST(ClippedText, KeepsHeadAndTail) {
  ClippedText text(4);
  for (const char c : std::string("0123456789abcdefghij")) text.add({&c, 1});
  EXPECT_EQ(text.bytes(), 20);
  EXPECT_EQ(text.text(), "0123\n[12 bytes left out]\nghij");
  ClippedText small(4);
  small.add("01234567");
  EXPECT_EQ(small.text(), "01234567");
}

TEST(CleanEnvironment, KnowsWhatTellsNothing) {
  for (const auto* name : {"PATH", "LC_ALL", "TORCHINDUCTOR_CACHE_DIR", "CUDA_VISIBLE_DEVICES"})
    EXPECT_TRUE(isHarmlessVariable(name)) << name;
  for (const auto* name : {"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "LD_PRELOAD", "PATHS", ""})
    EXPECT_FALSE(isHarmlessVariable(name)) << name;
}

}  // namespace
}  // namespace kerf
