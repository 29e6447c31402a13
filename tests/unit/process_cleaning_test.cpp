// Nothing is left behind: folders and children of a process that is killed, and programs that take too long.
#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/process/guardian.h"
#include "engine/process/program.h"
#include "engine/process/temporary_folder.h"
#include "tests/support/patience.h"
#include "tests/support/processes.h"

namespace kerf {
namespace {

using namespace std::chrono_literals;
using test::lives, test::waitUntil;

TEST(TemporaryFolder, IsGoneWithItsObject) {
  std::filesystem::path path;
  {
    auto folder = TemporaryFolder::create().value();
    path = folder.path();
    std::ofstream(path / "file") << "x";
    const auto moved = std::move(folder);
    EXPECT_TRUE(std::filesystem::exists(path / "file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

/// A process of its own that tells what it made and then sleeps.
struct Victim {
  pid_t pid = 0;
  std::filesystem::path folder;
  pid_t program = 0;
};

Victim startVictim(const std::filesystem::path& notes) {
  const pid_t pid = ::fork();
  if (pid != 0) {
    Victim victim{pid, {}, 0};
    EXPECT_TRUE(waitUntil([&] { return std::filesystem::exists(notes / "ready"); }));
    std::ifstream(notes / "folder") >> victim.folder;
    std::ifstream(notes / "program") >> victim.program;
    return victim;
  }
  const auto folder = TemporaryFolder::create();
  std::ofstream(folder->path() / "inside") << "x";
  std::ofstream(notes / "folder") << folder->path();
  // The program gets its input when the guardian knows of it.
  const auto script = "read go; echo $$ > " + (notes / "program").string() + "; touch " + (notes / "ready").string() +
                      "; sleep 1000; true";
  (void)runProgram({"sh", "-c", script}, "go\n", test::patience);
  ::_exit(0);
}

TEST(Guardian, ClearsUpAfterAKilledProcess) {
  const auto notes = TemporaryFolder::create().value();
  const auto victim = startVictim(notes.path());
  ASSERT_TRUE(std::filesystem::exists(victim.folder / "inside"));
  ASSERT_TRUE(lives(victim.program));
  ::kill(victim.pid, SIGKILL);
  ::waitpid(victim.pid, nullptr, 0);
  EXPECT_TRUE(waitUntil([&] { return !std::filesystem::exists(victim.folder); }));
  EXPECT_TRUE(waitUntil([&] { return !lives(victim.program); }));
}

TEST(RunProgram, GivesStatusOutputAndErrors) {
  const auto result = runProgram({"sh", "-c", "cat; echo bad >&2; exit 3"}, "text", test::patience);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->status, 3);
  EXPECT_EQ(result->output, "text");
  EXPECT_EQ(result->errors, "bad\n");
}

TEST(RunProgram, EndsWhatTakesTooLongWithItsChildren) {
  const auto folder = TemporaryFolder::create().value();
  const auto note = folder.path() / "pid";
  pid_t inner = 0;
  std::chrono::milliseconds timeout = 300ms;
  ASSERT_TRUE(waitUntil([&] {  // a busy machine may take longer to start both shells
    const auto script = "sh -c 'echo $$ > " + note.string() + "; sleep 1000'; true";
    const auto result = runProgram({"sh", "-c", script}, {}, std::exchange(timeout, 2 * timeout));
    EXPECT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::Environment);
    std::ifstream(note) >> inner;
    return inner > 0;
  }));
  EXPECT_TRUE(waitUntil([&] { return !lives(inner); }));
}

TEST(RunProgram, EndsWhatPrintsTooMuch) {
  for (const auto* script : {"yes", "yes >&2"}) {
    const auto result = runProgram({"sh", "-c", script}, {}, test::patience, {}, 1 << 20);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::Environment);
    EXPECT_EQ(result.error().message, "sh printed more than 1048576 bytes and was ended");
  }
}

TEST(FindProgram, IsAFileThatCanBeRun) {
  const auto folder = TemporaryFolder::create().value();
  std::filesystem::create_directories(folder.path() / "first" / "tool");
  std::filesystem::create_directories(folder.path() / "second");
  std::ofstream(folder.path() / "second" / "tool") << "#!/bin/sh\n";
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", fmt::format("{0}/first:{0}/second", folder.path().string()).c_str(), 1);
  EXPECT_EQ(findProgram("tool"), "");
  std::filesystem::permissions(folder.path() / "second" / "tool", std::filesystem::perms::owner_all);
  EXPECT_EQ(findProgram("tool"), folder.path() / "second" / "tool");
  ::setenv("PATH", before.c_str(), 1);
}

TEST(RunProgram, SaysWhatCannotStart) {
  const auto result = runProgram({"/nowhere/program"}, {}, test::patience);
  EXPECT_EQ(result.error().code, ErrorCode::Environment);
  EXPECT_NE(result.error().message.find("/nowhere/program"), std::string::npos);
}

}  // namespace
}  // namespace kerf
