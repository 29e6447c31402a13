// Programs that Kerf starts: what they print, how they end, and that nothing of them is left.
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/process/program.h"
#include "tests/support/patience.h"
#include "tests/support/processes.h"

namespace kerf {
namespace {

Result<ProgramResult> runScript(const std::string& script, const std::string& input = {}) {
  return runProgram({"/bin/sh", "-c", script}, input, test::patience);
}

TEST(RunProgram, GivesWhatTheProgramPrintsAndItsStatus) {
  const auto ran = runScript("cat; echo wrong >&2; exit 7", "text");
  ASSERT_TRUE(ran) << ran.error().text();
  EXPECT_EQ(ran->output, "text");
  EXPECT_EQ(ran->errors, "wrong\n");
  EXPECT_EQ(ran->status, 7);
}

TEST(RunProgram, NamesTheProgramThatIsNotThere) {
  const auto ran = runProgram({"no-such-program"}, "", test::patience);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ErrorCode::Environment);
  EXPECT_EQ(ran.error().message, "cannot start no-such-program: No such file or directory");
}

/// The arguments need more than the stack that a short command gets.
TEST(RunProgram, TakesManyArguments) {
  std::vector<std::string> command{"/bin/sh", "-c", "echo $#", "sh"};
  command.resize(command.size() + 50'000, "x");
  const auto ran = runProgram(command, "", test::patience);
  ASSERT_TRUE(ran) << ran.error().text();
  EXPECT_EQ(ran->output, "50000\n");
}

/// A program has the usual signals, whatever this process ignores or holds back.
TEST(RunProgram, StartsWithTheUsualSignals) {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  const auto ran = runScript("kill -TERM $$; echo survived");
  std::signal(SIGTERM, before);
  ASSERT_TRUE(ran) << ran.error().text();
  EXPECT_EQ(ran->output, "");
  EXPECT_EQ(ran->status, 128 + SIGTERM);
}

/// Its pipes get the lowest numbers that are free: that of its own standard file may be one.
TEST(RunProgram, HasItsFilesWhereThisProcessHasNone) {
  for (int closed = 0; closed < 3; ++closed) {
    const int saved = ::fcntl(closed, F_DUPFD_CLOEXEC, 10);
    ::close(closed);
    const auto ran = runScript("cat; echo wrong >&2", "text");
    ::dup2(saved, closed);
    ::close(saved);
    ASSERT_TRUE(ran) << closed << ": " << ran.error().text();
    EXPECT_EQ(ran->output, "text") << closed;
    EXPECT_EQ(ran->errors, "wrong\n") << closed;
    EXPECT_EQ(ran->status, 0) << closed;
  }
}

TEST(RunProgram, LeadsAGroupOfItsOwn) {
  const auto ran = runScript("echo $$ $(ps -o pgid= -p $$ 2>/dev/null || cut -d' ' -f5 /proc/$$/stat)");
  ASSERT_TRUE(ran) << ran.error().text();
  pid_t pid = 0, group = 0;
  ASSERT_EQ(std::sscanf(ran->output.c_str(), "%d %d", &pid, &group), 2) << ran->output;
  EXPECT_EQ(pid, group);
}

/// Killed at any moment, also between the start of a program and whatever is done next.
TEST(RunProgram, LeavesNothingWhenItsStarterIsKilled) {
  const auto mark = test::markOf(2);
  for (int tenths = 0; tenths < 60; ++tenths) {
    const pid_t starter = ::fork();
    if (starter == 0) {
      (void)runScript("sleep " + mark + " & sleep " + mark);
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100) * tenths);
    ::kill(starter, SIGKILL);
    ::waitpid(starter, nullptr, 0);
    EXPECT_TRUE(test::waitUntil([&] { return test::countMarked(mark) == 0; })) << tenths;
  }
}

}  // namespace
}  // namespace kerf
