// kerf completions and kerf manual: what they say comes from the commands' own tables.
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class CompletionsTest : public CliTest {
 protected:
  fs::path completion(const std::string& shell) { return write("kerf." + shell, run({"completions", shell}).output); }
  /// What bash offers where the cursor stands behind the last word.
  std::string offered(const std::string& words, int at) {
    const std::string script =
        fmt::format(". {}; compopt() {{ :; }}; COMP_WORDS=({}); COMP_CWORD={}; _kerf; echo \"${{COMPREPLY[*]}}\"",
                    completion("bash").string(), words, at);
    const auto result = runProgram({"bash", "-c", script}, {}, std::chrono::seconds(60));
    EXPECT_TRUE(result);
    EXPECT_EQ(result->errors, "");
    return result->output;
  }
  /// Whether the shell, where it is installed, reads the completions.
  bool isRead(const std::string& shell) {
    const auto program = findProgram(shell);
    if (program.empty()) return true;
    const auto result = runProgram({program.string(), "-n", completion(shell).string()}, {}, std::chrono::seconds(60));
    return result && result->status == 0 && result->errors.empty();
  }
};

TEST_F(CompletionsTest, BashOffersCommandsOptionsAndValues) {
  EXPECT_EQ(offered("kerf mini", 1), "minify\n");
  EXPECT_EQ(offered("kerf check --dev", 2), "--device\n");
  EXPECT_EQ(offered("kerf check --device ''", 3), "auto cpu cuda\n");
  EXPECT_EQ(offered("kerf store ver", 2), "verify\n");
  EXPECT_EQ(offered("kerf store verify --js", 3), "--json\n");
  EXPECT_EQ(offered("kerf --color n", 2), "never\n");
  EXPECT_THAT(offered("kerf ''", 1), Not(HasSubstr("graphs")));  // not for people
}

TEST_F(CompletionsTest, ZshAndFishReadTheirs) {
  EXPECT_TRUE(isRead("zsh"));
  EXPECT_TRUE(isRead("fish"));
  const std::string fish = run({"completions", "fish"}).output, zsh = run({"completions", "zsh"}).output;
  EXPECT_THAT(fish,
              HasSubstr("complete -c kerf -n '__fish_seen_subcommand_from check' -l device -x -a 'auto cpu cuda'"));
  EXPECT_THAT(zsh,
              HasSubstr("--device[cuda\\: the script uses a GPU (auto\\: as its text says)]:TEXT:(auto cpu cuda)"));
  EXPECT_EQ(run({"completions", "tcsh"}).status, 2);
}

TEST_F(CompletionsTest, ManualHasAPageForEachCommandInTheHelp) {
  const auto pages = folder / "man1";
  ASSERT_EQ(run({"manual", pages.string()}).status, 0);
  for (const auto& file : fs::directory_iterator(KERF_SOURCE_DIR "/tests/golden/help")) {
    const std::string name = file.path().stem().string();
    EXPECT_TRUE(fs::exists(pages / (name == "kerf" ? "kerf.1" : fmt::format("kerf-{}.1", name)))) << name;
  }
  const std::string page = textOf(pages / "kerf-store-verify.1");
  EXPECT_THAT(page, HasSubstr(".TH \"kerf-store-verify\" 1"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-json\\fR"));
  EXPECT_FALSE(fs::exists(pages / "kerf-graphs.1"));
}

TEST_F(CompletionsTest, DoctorTriesKerfAndNamesWhatIsMissing) {
  const auto told = runJson({"doctor", "--python", "/nowhere/python"});
  EXPECT_EQ(told["good"], true);
  std::map<std::string, json> parts;
  for (const auto& part : told["parts"]) parts[part["part"]] = part;
  EXPECT_EQ(parts["LLVM"]["state"], "works");
  EXPECT_EQ(parts["store"]["found"], store());
  EXPECT_EQ(parts["PyTorch"]["state"], "missing");
  EXPECT_EQ(parts["PyTorch"]["found"], "there is no Python /nowhere/python");
  EXPECT_THAT(parts["PyTorch"]["get"].get<std::string>(), HasSubstr("pip install torch"));
  const auto python = write(
      "python",
      "#!/bin/sh\necho noise of a library\necho '{\"torch\": \"2.3.1\", \"python\": \"3.12.1\", \"gpus\": []}'\n");
  fs::permissions(python, fs::perms::owner_all);
  for (const auto& part : runJson({"doctor", "--python", python.string()})["parts"])
    if (part["part"] == "PyTorch") {
      EXPECT_EQ(part["state"], "limited");
      EXPECT_EQ(part["found"], "2.3.1 of Python 3.12.1");
    }
}

TEST_F(CompletionsTest, DoctorFailsWhereKerfItselfDoes) {
  const auto result = run({"doctor", "--python", "/nowhere/python", "--store", "/proc/no/kerf.db", "--json"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(json::parse(result.output)["good"], false);
}

}  // namespace
}  // namespace kerf::cli
