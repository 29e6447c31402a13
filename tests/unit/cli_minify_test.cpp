// kerf minify: result, progress, resuming, Ctrl-C and kill -9.
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

class CliMinifyTest : public CliTest {
 protected:
  std::string out(const char* name = "small") const { return (folder / name).string(); }
  /// A search for what still has a relu, that stands still at its fourth candidate while the file "hold" is there.
  std::vector<std::string> search() {
    const auto check = fmt::format(
        "cd {}; echo >> candidates; while [ -e hold ] && [ $(wc -l < candidates) -ge 4 ]; do sleep 0.05; done; "
        "! grep -q aten.relu {{}}",
        folder.string());
    return {"minify", sample, "--oracle", "command", "--check", check, "--timeout", "600", "--jobs", "1", "-o", out()};
  }
  /// The search when it stands still: a few steps are in the store.
  std::unique_ptr<RunningKerf> startSearch() {
    write("hold", "");
    setenv("KERF_STORE", store().c_str(), 1);
    setenv("TMPDIR", folder.c_str(), 1);
    auto running = std::make_unique<RunningKerf>(kerf, search(), folder / "log");
    unsetenv("TMPDIR");
    EXPECT_TRUE(waitUntil([&] { return textOf(folder / "candidates").size() >= 4; })) << textOf(folder / "log.err");
    return running;
  }
  /// The same search again, to its end.
  void resume() {
    fs::remove(folder / "hold");
    const auto second = run(search());
    EXPECT_EQ(second.status, 0) << second.errors;
    EXPECT_THAT(second.errors, HasSubstr("resuming m1"));
    EXPECT_EQ(reduction()["status"], "finished");
    EXPECT_EQ(reduction()["best_nodes"], 3);
  }
  json reduction() { return runJson({"ls", "reductions"})["reductions"][0]; }
};

TEST_F(CliMinifyTest, CutsTheSampleDownToThreeNodes) {
  const auto result = runJson({"minify", sample, "--plant", "relu=accuracy", "-o", out()});
  EXPECT_EQ(result["nodes"], 3);
  EXPECT_EQ(result["one_minimal"], true);
  EXPECT_EQ(result["fingerprint"], result["rechecked"]);
  EXPECT_GT(result["elapsed_ms"], 0);
  EXPECT_EQ(run({"compare", out(), "--plant", "relu=accuracy"}).status, 1);
  EXPECT_EQ(run({"compare", out()}).status, 0);
  // what Kerf planted is no bug of PyTorch's: stock PyTorch shall run the graph, not judge it
  EXPECT_THAT(textOf(folder / "small" / "repro.py"), HasSubstr("accuracy=False, command='run'"));
  const auto repro = runJson({"ls", "repros"})["repros"][0];
  EXPECT_EQ(repro["nodes"], 3);
  EXPECT_EQ(run({"diff", repro["id"], out()}).status, 0);
  EXPECT_EQ(run({"diff", "m1", out()}).status, 0);
  EXPECT_EQ(runJson({"show", "m1@step:0"})["node_count"], runJson({"show", sample})["node_count"]);
  EXPECT_EQ(reduction()["status"], "finished");
}

TEST_F(CliMinifyTest, ProgressIsOneObjectALine) {
  const auto result = run({"minify", sample, "--plant", "relu=accuracy", "-o", out(), "--progress", "json"});
  ASSERT_EQ(result.status, 0) << result.errors;
  std::istringstream lines(result.output);
  int accepted = 0;
  std::map<std::string, int> seen;  // by event
  json last;
  for (std::string line; std::getline(lines, line);) {
    last = json::parse(line, nullptr, false);
    ASSERT_TRUE(last.is_object()) << line;
    const std::string event = last["event"];
    ++seen[event];
    if (event == "verdict") {
      EXPECT_TRUE(last["cached"].get<bool>() || last["worker"] < 2) << line;
      EXPECT_TRUE(last["verdict"] == "passes" || last["verdict"] == "fails") << line;
    }
    if (event == "candidate" || event == "verdict" || event == "reduction") continue;
    for (const char* key : {"event", "nodes", "tests", "best", "elapsed_ms", "fingerprint"})
      EXPECT_TRUE(last.contains(key)) << key << " in " << line;
    if (event == "step") ++accepted;
  }
  EXPECT_GE(seen["candidate"], last["tests"].get<int>());
  EXPECT_GE(seen["verdict"], last["tests"].get<int>());
  EXPECT_GT(seen["reduction"], 0);
  EXPECT_EQ(last["event"], "done");
  EXPECT_EQ(reduction()["steps"], accepted);
}

TEST_F(CliMinifyTest, ALimitEndsWithTheBestSoFar) {
  const std::vector<std::string> command{"minify", sample, "--plant", "relu=accuracy", "-o", out(), "--max-tests", "3"};
  const auto few = runJson(command);
  EXPECT_EQ(few["stopped_by"], "--max-tests");
  EXPECT_EQ(few["tests"], 3);
  EXPECT_EQ(few["one_minimal"], false);
  EXPECT_EQ(few["cancelled"], false);
  EXPECT_EQ(few["rechecked"], few["fingerprint"]);
  const auto rest = runJson({"minify", sample, "--plant", "relu=accuracy", "-o", out("rest")});
  EXPECT_EQ(rest["resumed"], true);
  EXPECT_EQ(rest["nodes"], 3);
  EXPECT_EQ(rest["stopped_by"], json());
  EXPECT_EQ(run({"minify", sample, "--max-time", "soon"}).status, 2);
  EXPECT_EQ(run({"minify", sample, "--pin", "nobody", "--plant", "relu=accuracy"}).status, 2);
}

TEST_F(CliMinifyTest, JudgeSaysWhetherTheGraphFails) {
  EXPECT_EQ(runJson({"minify", sample, "--judge"})["verdict"], "passes");
  EXPECT_EQ(runJson({"minify", sample, "--judge", "--plant", "relu=crash"}, 1)["verdict"], "fails");
  EXPECT_EQ(runJson({"ls", "reductions"})["reductions"].size(), 0u);
}

TEST_F(CliMinifyTest, AGraphThatDoesNotFailIsBadUsage) {
  const auto result = run({"minify", sample, "-o", out()});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, HasSubstr("does not fail"));
  EXPECT_FALSE(fs::exists(out()));
  EXPECT_EQ(runJson({"ls", "reductions"})["reductions"].size(), 0u);
}

TEST_F(CliMinifyTest, CrashesAreMinifiedToo) {
  const auto result = runJson({"minify", sample, "--plant", "relu=crash", "-o", out()});
  EXPECT_EQ(result["nodes"], 3);
  EXPECT_THAT(result["fingerprint"].get<std::string>(), ::testing::StartsWith("crash"));
}

TEST_F(CliMinifyTest, CtrlCKeepsWhatWasAcceptedAndASecondRunResumes) {
  const auto running = startSearch();
  running->signal(SIGINT);
  EXPECT_EQ(running->wait(), 3);
  const auto stopped = reduction();
  EXPECT_EQ(stopped["status"], "cancelled");
  EXPECT_THAT(textOf(folder / "log"), HasSubstr("stopped at"));
  EXPECT_GE(stopped["steps"], 2);
  resume();
  EXPECT_GT(reduction()["steps"], stopped["steps"]);
  EXPECT_EQ(runJson({"ls", "reductions"})["reductions"].size(), 1u);
}

TEST_F(CliMinifyTest, KillNineLosesNothingAccepted) {
  const auto running = startSearch();
  running->signal(SIGKILL);
  running->wait();
  const auto killed = reduction();
  EXPECT_GE(killed["steps"], 2);
  EXPECT_EQ(run({"show", "m1"}).status, 0);
  resume();
}

}  // namespace
}  // namespace kerf::cli
