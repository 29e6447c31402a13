// What the commands print, beside golden files. KERF_UPDATE_GOLDEN=1 writes the files anew (packaging/update_goldens.sh);
// the diff is read in review.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/process/program.h"
#include "tests/golden/masks.h"
#include "tests/golden/session.h"
#include "tests/support/patience.h"

namespace kerf::golden {
namespace {

namespace fs = std::filesystem;

fs::path goldenFolder() { return fs::path(KERF_SOURCE_DIR) / "tests/golden"; }

std::string readText(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// "help/show", "sessions/import": the golden files without their extension.
std::vector<std::string> goldens() {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(goldenFolder()))
    if (entry.path().extension() == ".txt")
      found.push_back(fs::relative(entry.path(), goldenFolder()).replace_extension().generic_string());
  std::ranges::sort(found);
  return found;
}

bool updates() { return std::getenv("KERF_UPDATE_GOLDEN") != nullptr; }

class Golden : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_TRUE(fs::exists(fs::path(KERF_BINARY_DIR) / "bin/kerf")) << "build kerf first"; }
  void TearDown() override { fs::remove_all(folder); }
  const fs::path folder = fs::temp_directory_path() / fmt::format("kerf_golden_{}", getpid());
};

TEST_P(Golden, PrintsWhatItDid) {
  const fs::path file = goldenFolder() / (GetParam() + ".txt");
  const std::string expected = readText(file);
  const auto session = parseSession(expected);
  ASSERT_TRUE(session) << file << ": " << session.error().text();
  const auto text = runSession(*session, folder);
  ASSERT_TRUE(text) << text.error().text();
  if (updates()) {
    std::ofstream(file, std::ios::binary) << *text;
    return;
  }
  EXPECT_EQ(expected, *text) << "If this is what should be printed, run packaging/update_goldens.sh";
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, ::testing::ValuesIn(goldens()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

/// Names in the list of subcommands that `kerf … --help` prints.
std::vector<std::string> subcommandsOf(const std::string& command) {
  const std::string kerf = std::string(KERF_BINARY_DIR) + "/bin/kerf";
  const auto result = runProgram({"/bin/sh", "-c", kerf + command + " --help"}, {}, test::patience);
  std::vector<std::string> names;
  std::istringstream lines(result ? result->output : "");
  bool listed = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Subcommands:") listed = true;
    if (line.empty()) listed = false;
    if (listed && line.size() > 2 && line[0] == ' ' && line[2] != ' ')
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

TEST(GoldenFiles, EverySubcommandHasItsHelp) {
  const auto commands = subcommandsOf("");
  EXPECT_GT(commands.size(), 20u);
  EXPECT_TRUE(std::ranges::find(commands, "show") != commands.end());
  for (const std::string& name : commands) {
    EXPECT_TRUE(fs::exists(goldenFolder() / "help" / (name + ".txt")))
        << "write '>>> kerf " << name << " --help' into tests/golden/help/" << name
        << ".txt, then packaging/update_goldens.sh";
  }
}

TEST(GoldenFiles, MasksHideWhatVariesAndNothingElse) {
  EXPECT_EQ(masked("took 1.25 ms of 3 s, 12 nodes\n", {}), "took TIME of TIME, 12 nodes\n");
  EXPECT_EQ(masked("kerf 1.2.3 at 2026-01-02T03:04:05Z  \n", {}), "kerf VERSION at DATE\n");
  EXPECT_EQ(masked("! trial 3 50 %, 2 s to go\n! kerf: warning: 50 % left\n", {}), "! kerf: warning: 50 % left\n");
  EXPECT_EQ(masked("error  5.66e-07  1 0.5\n", {}), "error  5.66e-07  1 0.5\n");
  const std::string named[] = {"numbers", "columns", "sizes"};
  EXPECT_EQ(masked("  error     5.66e-07  1e-3 1 12.5 kB\n", named), "  error  #  # 1 SIZE\n");
  EXPECT_EQ(masked("0.5, -0.25% of torch 2.11.0 and f32\n", named), "#, #% of torch 2.11.0 and f32\n");
}

TEST(GoldenFiles, ASessionNeedsCommandsAndMasksThatExist) {
  EXPECT_EQ(parseSession("# masks: numbers\n>>> kerf ls\nx\n[exit 1]\n>>> true\n")->commands.size(), 2u);
  EXPECT_FALSE(parseSession("kerf ls\n"));
  EXPECT_FALSE(parseSession("# masks: nonsense\n>>> kerf ls\n"));
}

}  // namespace
}  // namespace kerf::golden
