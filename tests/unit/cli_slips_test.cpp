// kerf minify: other failures met by the way, what counts as the same failure, and what verdicts are remembered by.
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

class CliSlipsTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    writeCheck("addmm went wrong");
  }
  /// relu is one bug; where there is none, addmm is another.
  void writeCheck(const std::string& second) {
    fs::permissions(
        write("check.sh",
              fmt::format("#!/bin/sh\necho asked >> {0}/asked\n"
                          "grep -q aten.relu \"$1\" && echo \"relu_$(wc -c < \"$1\") is off\" >&2 && exit 1\n"
                          "grep -q aten.addmm \"$1\" && echo \"{1}\" >&2 && exit 1\nexit 0\n",
                          folder.string(), second)),
        fs::perms::owner_all);
  }
  json search(const std::vector<std::string>& more = {}, const std::string& graph = {}) {
    std::vector<std::string> arguments{"minify",  graph.empty() ? sample : graph, "--oracle",  "command",
                                       "--check", (folder / "check.sh").string(), "--timeout", "600",
                                       "-o",      (folder / "small").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runJson(std::move(arguments));
  }
  std::size_t asked() const { return textOf(folder / "asked").size(); }
};

TEST_F(CliSlipsTest, ASecondBugIsKeptAsAGraphOfItsOwn) {
  const auto first = search();
  EXPECT_EQ(first["fingerprint"], "command:exit 1:relu is off");
  EXPECT_EQ(first["nodes"], 3);
  EXPECT_GT(first["slips"], 0);
  ASSERT_EQ(first["findings"].size(), 1u);
  const auto finding = first["findings"][0];
  EXPECT_EQ(finding["id"], "m1/slip1");
  EXPECT_EQ(finding["fingerprint"], "command:exit 1:addmm went wrong");
  EXPECT_EQ(runJson({"show", "m1/slip1"})["node_count"], finding["nodes"]);
  EXPECT_EQ(run({"export", "m1/slip1", "-o", (folder / "other").string()}).status, 0);
  EXPECT_THAT(textOf(folder / "other" / "repro.py"), HasSubstr("aten.addmm"));
  EXPECT_EQ(run({"store", "gc"}).status, 0);
  const auto second = search({}, "m1/slip1");
  EXPECT_EQ(second["fingerprint"], finding["fingerprint"]);
  EXPECT_LE(second["nodes"], finding["nodes"]);
  EXPECT_EQ(second["rechecked"], second["fingerprint"]);
  EXPECT_EQ(run({"show", "m1/slip2"}).status, 2);
  EXPECT_EQ(run({"show", "c1/slip1"}).status, 2);
}

TEST_F(CliSlipsTest, OfTwoPlantedFaultsTheLastCheckHasTheOneThatIsLeft) {
  const auto found = runJson({"minify", sample, "--plant", "relu=accuracy", "--plant", "erf=compile_error", "-o",
                              (folder / "small").string()});
  EXPECT_THAT(std::string(found["fingerprint"]), HasSubstr("compile_error"));
  EXPECT_EQ(found["rechecked"], found["fingerprint"]);
  EXPECT_EQ(found["nodes"], 3);
}

TEST_F(CliSlipsTest, VerdictsAreThoseOfTheScriptAsItIs) {
  search();
  const auto before = asked();
  EXPECT_EQ(search()["tests"], 0);
  const auto again = asked();
  EXPECT_EQ(again, before + std::string_view("asked\n").size()) << "only the last check asks";
  writeCheck("addmm went badly");
  EXPECT_GT(search()["tests"], 0);
  EXPECT_GT(search({"--fresh"})["tests"], 0);
  EXPECT_EQ(search()["tests"], 0);
}

TEST_F(CliSlipsTest, APatternOrEveryFailureMayCount) {
  const auto any = search({"--any-failure"});
  EXPECT_EQ(any["nodes"], 3);
  EXPECT_EQ(any["slips"], 0);
  const auto code = search({"--match", "^command:exit 1"});
  EXPECT_EQ(code["slips"], 0);
  EXPECT_EQ(search({"--match", R"(relu_\d+ is)"})["fingerprint"], "command:exit 1:relu is off");
  EXPECT_EQ(run({"minify", sample, "--plant", "relu=accuracy", "--match", "crash"}).status, 2);
  EXPECT_EQ(run({"minify", sample, "--plant", "relu=accuracy", "--match", "(a"}).status, 2);
  EXPECT_EQ(run({"minify", sample, "--plant", "relu=accuracy", "--match", "a", "--any-failure"}).status, 2);
  const auto judged = run({"minify", sample, "--plant", "relu=accuracy", "--judge", "--match", "crash"});
  EXPECT_EQ(judged.status, 1);
  EXPECT_THAT(judged.output, HasSubstr("fails_differently: accuracy:magnitude"));
}

}  // namespace
}  // namespace kerf::cli
