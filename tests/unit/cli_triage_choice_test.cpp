// kerf triage: which failures count, one PyTorch for all captures, and failures that no part of the compiler explains.
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

class TriageChoiceTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    fs::create_directories(folder / "fails");
  }
  void capture(const std::string& name, const std::string& op) {
    write("fails/" + name, test::smallRepro(fmt::format("        first = torch.ops.aten.neg.default(arg0_1)\n"
                                                        "        second = torch.ops.aten.{}.default(first)\n"
                                                        "        return (second,)\n",
                                                        op)));
  }
  std::vector<std::string> triage(std::vector<std::string> more) const {
    std::vector<std::string> command{"triage", (folder / "fails").string(), "-o", (folder / "report").string()};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  static json rowOf(const json& triage, const std::string& file) {
    for (const auto& row : triage["graphs"])
      if (fs::path(std::string(row["capture"])).filename() == file) return row;
    ADD_FAILURE() << "no row for " << file;
    return json::object();
  }
};

TEST_F(TriageChoiceTest, OnlyWhatMatchesCounts) {
  capture("a.py", "relu");
  capture("b.py", "tanh");
  const auto found =
      runJson(triage({"--plant", "relu=accuracy", "--plant", "tanh=compile_error", "--match", "compile_err"}), 1);
  EXPECT_EQ(found["failing"], 1);
  EXPECT_EQ(found["failing_differently"], 1);
  EXPECT_EQ(rowOf(found, "a.py")["state"], "fails_differently");
  EXPECT_THAT(std::string(rowOf(found, "a.py")["fingerprint"]), ::testing::StartsWith("accuracy:magnitude:aten."));
  EXPECT_EQ(rowOf(found, "b.py")["nodes"], 3);
  EXPECT_EQ(found["clusters"].size(), 1u);
  EXPECT_THAT(textOf(folder / "report/report.txt"), HasSubstr("1 that fail in another way"));
}

TEST_F(TriageChoiceTest, AFailureThatDoesNotAlwaysShowIsAskedForAgain) {
  capture("a.py", "relu");
  capture("b.py", "exp");
  const auto found = runJson(triage({"--plant", "relu=flaky:0.5", "--flaky", "30"}), 1);
  EXPECT_EQ(found["failing"], 1);
  EXPECT_EQ(rowOf(found, "a.py")["state"], "fails");
  EXPECT_EQ(rowOf(found, "a.py")["nodes"], 3);
  EXPECT_EQ(rowOf(found, "b.py")["state"], "passes");
}

TEST_F(TriageChoiceTest, WhatNoSubsystemExplainsIsSaid) {
  capture("a.py", "relu");
  const auto found = runJson(triage({"--plant", "relu=crash"}), 1);
  const auto row = rowOf(found, "a.py");
  EXPECT_EQ(row["state"], "fails");
  EXPECT_EQ(row["nodes"], 3);
  EXPECT_THAT(std::string(row["trouble"].is_null() ? "" : row["trouble"]), HasSubstr("every subsystem off"));
}

TEST_F(TriageChoiceTest, OnePyTorchJudgesAllCaptures) {
  if (findProgram("python3").empty()) GTEST_SKIP() << "there is no python3";
  capture("a.py", "relu");
  capture("b.py", "log");
  capture("c.py", "neg");
  setenv("PYTHONPATH", KERF_SOURCE_DIR "/tests/support/fake_torch", 1);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  setenv("FAKE_TORCH_LOG", (folder / "torch.log").c_str(), 1);
  const auto found = runJson(triage({"--oracle", "torch"}), 1);
  for (const char* name : {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "FAKE_TORCH_LOG"}) unsetenv(name);
  EXPECT_EQ(found["failing"], 2);
  EXPECT_EQ(rowOf(found, "a.py")["nodes"], 3);
  EXPECT_EQ(rowOf(found, "c.py")["state"], "passes");
  const auto log = textOf(folder / "torch.log");
  std::istringstream lines(log);
  int imports = 0;
  for (std::string line; std::getline(lines, line);) imports += line.starts_with("import ") ? 1 : 0;
  EXPECT_EQ(imports, 1) << log;
}

TEST_F(TriageChoiceTest, TheReproImportsWhatTheUserNamed) {
  capture("a.py", "relu");
  setenv("PYTHONPATH", KERF_SOURCE_DIR "/tests/support/fake_torch", 1);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  const auto done = run({"minify", (folder / "fails/a.py").string(), "--oracle", "torch", "--import", "json",
                         "--import", "xml.dom", "-o", (folder / "small").string()});
  for (const char* name : {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}) unsetenv(name);
  EXPECT_THAT(textOf(folder / "small/repro.py"), HasSubstr("\nimport torch\nimport json\nimport xml.dom\n"))
      << done.errors;
}

TEST_F(TriageChoiceTest, AReductionIsExportedWithItsIssue) {
  capture("a.py", "relu");
  const auto small = runJson(
      {"minify", (folder / "fails/a.py").string(), "--plant", "relu=accuracy", "-o", (folder / "small").string()});
  const std::string reduction = small["reduction_id"];
  EXPECT_EQ(run({"export", reduction, "-o", (folder / "again").string()}).status, 0);
  EXPECT_TRUE(fs::exists(folder / "again/repro.py"));
  EXPECT_THAT(textOf(folder / "again/issue.md"), HasSubstr("relu"));
  EXPECT_EQ(run({"export", (folder / "fails/a.py").string(), "-o", (folder / "plain").string()}).status, 0);
  EXPECT_FALSE(fs::exists(folder / "plain/issue.md")) << "of that no failure is known";
}

}  // namespace
}  // namespace kerf::cli
