// Nothing outlives a verdict: commands that leave processes, use too much, or are left when kerf is killed.
#include <sys/prctl.h>

#include "tests/support/cli_test.h"
#include "tests/support/processes.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CliLeftoversTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    m_graph = reluRepro().string();
  }
  int marked() const { return test::countMarked(mark); }
  std::vector<std::string> temporaryFolders() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().filename().string().starts_with("kerf-")) found.push_back(entry.path().filename());
    return found;
  }
  void expectNothingLeft() const {
    EXPECT_TRUE(waitUntil([&] { return marked() == 0; }));  // kerf's guardian, which sees that kerf has ended, included
    EXPECT_THAT(temporaryFolders(), IsEmpty());
  }
  /// The verdict on the graph by a script; "MARK" in it is a number of seconds that nobody else sleeps for.
  json judge(std::string script, std::vector<std::string> more = {}, int status = 1) {
    for (auto at = script.find("MARK"); at != std::string::npos; at = script.find("MARK")) script.replace(at, 4, mark);
    std::vector<std::string> arguments{"minify", m_graph, "--judge", "--oracle", "command", "--check", script + "; #"};
    if (std::ranges::find(more, "--timeout") == more.end()) more.insert(more.end(), {"--timeout", "600"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runJson(arguments, status);
  }

  std::string m_graph;
  const std::string mark = test::markOf(6);
};

TEST_F(CliLeftoversTest, EveryExcessIsOneVerdictAndLeavesNothing) {
  struct Row {
    std::string script, fingerprint;
    std::vector<std::string> options;
  };
  const std::vector<Row> rows{
      {"sleep MARK & setsid sleep MARK & exit 7", "command:exit 7", {}},
      {"i=0; while [ $i -lt 300 ]; do sleep MARK & i=$((i+1)); done; exit 8", "command:exit 8", {}},
      {"while :; do sleep MARK & done", "command:process limit", {"--max-processes", "50"}},
      {"yes MARK", "command:output limit", {"--max-output", "1M"}},
      {"yes MARK >&2", "command:output limit", {}},
      {"x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep MARK", "command:memory limit", {"--memory-limit", "100M"}},
      {"head -c 2000000 /dev/zero > big || exit 9",
       "command:exit 9:File size limit exceeded",
       {"--max-file-size", "1M"}},
      {"kill -STOP $$; sleep MARK", "command:timeout", {"--timeout", "0.3"}},
      {"trap '' TERM; while :; do sleep 0.1; done", "command:timeout", {"--timeout", "0.3"}},
  };
  for (const auto& row : rows) {
    const auto verdict = judge(row.script, row.options);
    EXPECT_EQ(verdict["verdict"], "fails") << row.script;
    EXPECT_EQ(verdict["fingerprint"], row.fingerprint) << row.script;
    expectNothingLeft();
  }
}

TEST_F(CliLeftoversTest, TheEnvironmentAndTheNetworkCanBeTakenAway) {
  setenv("KERF_TEST_SECRET", "1", 1);
  const std::string check = "test -n \"$KERF_TEST_SECRET\"";
  EXPECT_EQ(judge(check, {}, 0)["verdict"], "passes");
  EXPECT_EQ(judge(check, {"--clean-env"})["verdict"], "fails");
  EXPECT_EQ(judge(check, {"--keep-env", "KERF_TEST_SECRET"}, 0)["verdict"], "passes");
  const auto result = run({"minify", m_graph, "--judge", "--oracle", "command", "--no-network", "--check",
                           "test \"$(tail -n +3 /proc/net/dev | wc -l)\" -eq 1; #"});
  if (result.status != 0) {
    EXPECT_THAT(result.errors, HasSubstr("no network namespace"));
  }
  EXPECT_EQ(run({"minify", m_graph, "--judge", "--clean-env"}).status, 2);
}

TEST_F(CliLeftoversTest, SharedMemoryCounts) {
  if (findProgram("python3").empty()) GTEST_SKIP() << "the script is Python";
  const auto verdict = judge(
      "python3 -c 'import mmap, time; m = mmap.mmap(-1, 400 << 20); [m.__setitem__(i, 1) for i in range(0, 400 << 20, "
      "4096)]; time.sleep(MARK)'",
      {"--memory-limit", "200M"});
  EXPECT_EQ(verdict["fingerprint"], "command:memory limit");
  expectNothingLeft();
}

TEST_F(CliLeftoversTest, ALimitOfOutputDoesNotDependOnTime) {
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(judge("echo hello; exit 1", {"--max-output", "2"})["fingerprint"], "command:output limit");
}

/// Where init reaps nobody's children, those of kerf must not be left to it.
TEST_F(CliLeftoversTest, NoZombiesAreLeftToOthers) {
  EXPECT_EQ(run({"--version"}).status, 0);  // starts this process's own guardian
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  EXPECT_TRUE(waitUntil([&] {  // kerf waits for its guardian, but not for long
    const auto before = test::childrenOf(::getpid());
    EXPECT_EQ(run({"compare", m_graph}).status, 0);
    judge("sleep MARK & exit 7");
    return test::childrenSince(before).empty();
  }));
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(CliLeftoversTest, WhatIsAboutProgramsIsRefusedForTheEngine) {
  for (const auto& [option, value] : {std::pair("--max-processes", "7"), std::pair("--max-output", "1M")}) {
    const auto result = run({"minify", m_graph, "--judge", option, value});
    EXPECT_EQ(result.status, 2) << option;
    EXPECT_THAT(result.errors, HasSubstr("they need the oracle command or torch"));
  }
}

class CliTorchTest : public CliLeftoversTest {
 protected:
  /// A program that stands for a Python; its name would be a variable to env.
  fs::path python(const std::string& script) const {
    const auto path = write("python=3", "#!/bin/sh\n" + script + "\n");
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  ProgramResult judgeBy(const fs::path& program, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"minify", m_graph, "--judge", "--oracle", "torch", "--python", program.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

TEST_F(CliTorchTest, TheReasonWhyTorchIsNotThereIsTold) {
  struct Row {
    std::string script, reason;
    std::vector<std::string> options;
  };
  const std::vector<Row> rows{{"echo Traceback: >&2; echo 'ModuleNotFoundError: no torch' >&2; exit 1",
                               "cannot import torch (exit 1, ModuleNotFoundError: no torch)",
                               {}},
                              {"kill -SEGV $$", "cannot import torch (SIGSEGV)", {}},
                              {"exit 4", "cannot import torch (exit 4)", {}},
                              {"yes", "cannot import torch (it went over the output limit)", {"--max-output", "1M"}}};
  for (const auto& row : rows) {
    const auto result = judgeBy(python(row.script), row.options);
    EXPECT_EQ(result.status, 3) << row.script;
    EXPECT_THAT(result.errors, AllOf(HasSubstr(row.reason), HasSubstr("name a Python that has PyTorch with --python")));
  }
  EXPECT_THAT(judgeBy("no-such-python").errors, HasSubstr("there is no program no-such-python"));
}

/// PyTorch runs in a folder of its own, where no file of a stranger can be called torch.py.
TEST_F(CliTorchTest, ARelativePathIsMeantFromHere) {
  const auto program = python(fmt::format("pwd >> {}; exit 4", (folder / "folders").string()));
  const auto result = judgeBy(fs::relative(program));
  EXPECT_EQ(result.status, 3) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("cannot import torch (exit 4)"));
  EXPECT_THAT(textOf(folder / "folders"), HasSubstr("/kerf-"));
  EXPECT_NE(textOf(folder / "folders"), fs::current_path().string() + "\n");
}

TEST_F(CliLeftoversTest, LimitsAreReadAsSizes) {
  for (const auto* wrong : {"0", "-1", "x", "1Q", "99999999999G"})
    EXPECT_EQ(run({"minify", m_graph, "--judge", "--memory-limit", wrong}).status, 2) << wrong;
  EXPECT_EQ(run({"minify", m_graph, "--judge", "--max-processes", "0"}).status, 2);
  EXPECT_EQ(run({"compare", m_graph, "--memory-limit", "2G", "--max-file-size", "1M"}).status, 0);
  EXPECT_EQ(run({"bisect", m_graph, "--by", "node", "--memory-limit", "2G"}).status, 0);
}

/// A search whose every candidate leaves processes of all kinds, and whose ninth never ends.
class CliKilledTest : public CliLeftoversTest {
 protected:
  std::unique_ptr<RunningKerf> start() {
    const auto check = fmt::format(
        "echo >> {0}/candidates; (setsid sh -c 'sleep {1} & exec sleep {1}' </dev/null >/dev/null 2>&1 &); sleep 0.02; "
        "[ $(wc -l < {0}/candidates) -lt 9 ] || sleep {1}; ! grep -q aten.relu {{}}",
        folder.string(), mark);
    setenv("KERF_STORE", store().c_str(), 1);
    setenv("TMPDIR", folder.c_str(), 1);
    auto running = std::make_unique<RunningKerf>(
        kerf,
        std::vector<std::string>{"minify", sample, "--oracle", "command", "--check", check, "--timeout", "600", "-o",
                                 (folder / "small").string()},
        folder / "log");
    unsetenv("TMPDIR");
    return running;
  }
  std::size_t candidates() const { return textOf(folder / "candidates").size(); }
};

TEST_F(CliKilledTest, AtAnyPointNothingIsLeftAndTheStoreIsGood) {
  unsigned seed = 10;
  for (std::size_t point = 0; point < 8; ++point) {
    fs::remove(folder / "candidates");
    fs::remove(store());  // or it would go on where the last one was
    const auto running = start();
    if (point > 0) {
      EXPECT_TRUE(waitUntil([&] { return candidates() >= point; })) << textOf(folder / "log.err");
    }
    seed = seed * 1103515245 + 12345;
    usleep(seed / 65536 % 40'000);
    running->signal(SIGKILL);
    running->wait();
    EXPECT_TRUE(waitUntil([&] { return marked() == 0 && temporaryFolders().empty(); })) << "point " << point;
    EXPECT_EQ(run({"store", "verify"}).status, 0) << "point " << point;
  }
}

TEST_F(CliKilledTest, WithItsGuardianTheFoldersGoAtTheNextStart) {
  const auto running = start();
  EXPECT_TRUE(waitUntil([&] { return candidates() >= 2; })) << textOf(folder / "log.err");
  std::vector<pid_t> guardians;
  EXPECT_TRUE(waitUntil([&] {  // it gets its name when it gets to run
    guardians = test::childrenNamed(running->pid(), "kerf-guardian");
    return !guardians.empty();
  }));
  ASSERT_EQ(guardians.size(), 1u);
  running->signal(SIGSTOP);
  kill(guardians[0], SIGKILL);
  running->signal(SIGKILL);
  running->wait();
  EXPECT_FALSE(temporaryFolders().empty());
  EXPECT_TRUE(waitUntil([&] { return marked() == 0; }));
  EXPECT_EQ(run({"ls"}).status, 0);
  EXPECT_THAT(temporaryFolders(), IsEmpty());
}

}  // namespace
}  // namespace kerf::cli
