// kerf triage: clusters, rows for what goes wrong, the report, stopping and going on.
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A graph of one input in which `calls` stand, each "name = call" of what is before it.
std::string graphOf(const std::vector<std::string>& ops) {
  std::string last = "arg0_1", forward;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto name = fmt::format("v{}", i);
    forward += fmt::format("        {} = torch.ops.aten.{}.default({})\n", name, ops[i], last);
    last = name;
  }
  return test::smallRepro(forward + fmt::format("        return ({},)\n", last));
}

class CliTriageTest : public CliTest {
 protected:
  /// Two with the fault of relu, one a copy of the first, one with that of tanh, one that passes, one unreadable.
  fs::path sixCaptures(const std::string& odd = "broken.py") {
    fs::create_directories(folder / "fails");
    write("fails/a.py", graphOf({"neg", "relu", "exp"}));
    write("fails/b.py", graphOf({"relu", "cos", "neg", "sin"}));
    write("fails/c.py", graphOf({"neg", "relu", "exp"}));
    write("fails/d.py", graphOf({"neg", "tanh", "exp"}));
    write("fails/e.py", graphOf({"neg", "exp"}));
    write("fails/" + odd, "import torch\nclass Repro(torch.nn.Module):\n    def forward(self, arg0_1:\n");
    return folder / "fails";
  }
  std::vector<std::string> triage(const fs::path& where) const {
    return {"triage",  where.string(),       "--plant", "relu=accuracy",
            "--plant", "tanh=compile_error", "-o",      (folder / "report").string()};
  }
  static json rowOf(const json& triage, const std::string& file) {
    for (const auto& row : triage["graphs"])
      if (fs::path(std::string(row["capture"])).filename() == file) return row;
    ADD_FAILURE() << "no row for " << file;
    return json::object();
  }
};

TEST_F(CliTriageTest, FailuresOfOneBugAreOneCluster) {
  const auto found = runJson(triage(sixCaptures()), 1);
  EXPECT_EQ(found["failing"], 4);
  EXPECT_EQ(found["passing"], 1);
  EXPECT_EQ(found["graphs"].size(), 6u);
  ASSERT_EQ(found["clusters"].size(), 2u);
  const auto& first = found["clusters"][0];
  EXPECT_THAT(std::string(first["fingerprint"]), ::testing::StartsWith("accuracy:magnitude:aten."));
  EXPECT_EQ(first["members"].size(), 3u);
  EXPECT_EQ(first["ops"], json::array({"relu"}));
  EXPECT_THAT(std::string(first["culprits"].dump()), HasSubstr("relu"));
  EXPECT_THAT(std::string(found["clusters"][1]["fingerprint"]), HasSubstr("compile_error"));
  EXPECT_EQ(found["clusters"][1]["ops"], json::array({"tanh"}));
  EXPECT_EQ(rowOf(found, "d.py")["cluster"], 2);
  EXPECT_EQ(rowOf(found, "e.py")["state"], "passes");
  EXPECT_EQ(rowOf(found, "broken.py")["state"], "not_opened");
  EXPECT_EQ(rowOf(found, "c.py")["cluster"], 1);
  EXPECT_THAT(std::string(rowOf(found, "c.py")["same_as"]), HasSubstr("a.py"));
  for (const char* file : {"a.py", "b.py", "c.py", "d.py"}) EXPECT_EQ(rowOf(found, file)["nodes"], 3) << file;
  for (const char* file : {"repro.py", "issue.md", "members.txt"})
    EXPECT_TRUE(fs::exists(folder / "report/cluster-1" / file)) << file;
  EXPECT_EQ(run({"compare", (folder / "report/cluster-1").string(), "--plant", "relu=accuracy"}).status, 1);
  EXPECT_THAT(textOf(folder / "report/report.txt"), HasSubstr("cluster 2: compile_error"));
}

TEST_F(CliTriageTest, NothingOfACaptureIsHtml) {
  const auto where = sixCaptures("<script>alert('&')<!--.py");
  ASSERT_EQ(run(triage(where)).status, 1);
  const auto page = textOf(folder / "report/report.html");
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;&amp;&#39;)&lt;!--.py"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST_F(CliTriageTest, NothingFails) {
  write("good.py", graphOf({"neg"}));
  const auto found = runJson({"triage", (folder / "good.py").string(), "-o", (folder / "report").string()});
  EXPECT_EQ(found["failing"], 0);
  EXPECT_EQ(found["clusters"], json::array());
  EXPECT_TRUE(fs::exists(folder / "report/report.html"));
}

TEST_F(CliTriageTest, WrongUse) {
  write("good.py", graphOf({"neg"}));
  const auto good = (folder / "good.py").string(), report = (folder / "report").string();
  EXPECT_EQ(run({"triage"}).status, 2);
  EXPECT_EQ(run({"triage", (folder / "absent").string(), "-o", report}).status, 2);
  EXPECT_EQ(run({"triage", good, "--plant", "relu=nonsense", "-o", report}).status, 2);
  EXPECT_EQ(run({"triage", good, "--oracle", "command", "-o", report}).status, 2);
  EXPECT_EQ(run({"triage", good, "--oracle", "torch", "--python", "/nonexistent", "-o", report}).status, 3);
}

TEST_F(CliTriageTest, AReportInTheFolderIsNotTriaged) {
  const auto where = sixCaptures();
  auto command = triage(where);
  command.back() = (where / "report").string();
  EXPECT_EQ(runJson(command, 1)["graphs"].size(), 6u);
  EXPECT_EQ(runJson(command, 1)["graphs"].size(), 6u);
}

TEST_F(CliTriageTest, StoppedItReportsWhatIsDoneAndGoesOn) {
  const auto where = sixCaptures();
  const auto check = fmt::format(
      "cd {}; echo >> candidates; while [ -e hold ] && [ $(wc -l < candidates) -ge 8 ]; do sleep 0.05; done; "
      "! grep -q aten.relu {{}}",
      folder.string());
  const std::vector<std::string> command{
      "triage",    where.string(), "--oracle", "command", "--check", check,
      "--timeout", "600",          "--jobs",   "1",       "-o",      (folder / "report").string()};
  write("hold", "");
  setenv("KERF_STORE", store().c_str(), 1);
  setenv("TMPDIR", folder.c_str(), 1);
  RunningKerf running(kerf, command, folder / "log");
  unsetenv("TMPDIR");
  ASSERT_TRUE(waitUntil([&] { return textOf(folder / "candidates").size() >= 8; })) << textOf(folder / "log.err");
  running.signal(SIGINT);
  EXPECT_EQ(running.wait(), 3) << textOf(folder / "log.err");
  EXPECT_THAT(textOf(folder / "report/report.txt"), HasSubstr("stopped"));
  const auto asked = textOf(folder / "candidates").size();
  fs::remove(folder / "hold");
  const auto found = runJson(command, 1);
  EXPECT_EQ(found["failing"], 3);
  EXPECT_EQ(found["cancelled"], false);
  EXPECT_EQ(found["clusters"].size(), 1u);
  EXPECT_EQ(rowOf(found, "b.py")["nodes"], 3);
  const auto again = textOf(folder / "candidates").size();
  EXPECT_EQ(runJson(command, 1)["clusters"], found["clusters"]);
  // a third run asks only for the five verdicts at the start and the checks of what was written
  EXPECT_LT(textOf(folder / "candidates").size() - again, again - asked);
}

}  // namespace
}  // namespace kerf::cli
