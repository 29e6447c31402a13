// Follows the how-to pages literally: their files are written and compiled against the built libraries, their checks
// run.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/docs/overlay_build.h"

namespace kerf::docs {
namespace {

namespace fs = std::filesystem;

/// The pages that have steps.
std::vector<std::string> pages() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(fs::path(KERF_SOURCE_DIR) / "resources/docs"))
    if (entry.path().extension() == ".md" && !stepsOf(readText(entry.path())).empty())
      found.push_back(entry.path().stem().string());
  std::ranges::sort(found);
  return found;
}

class HowTo : public ::testing::TestWithParam<std::string> {
 protected:
  void TearDown() override {
    if (!HasFailure()) fs::remove_all(folder);
  }
  void follow(const Step& step) {
    if (!step.file.empty()) {
      ASSERT_EQ(tree.apply(step), "");
      return;
    }
    if (step.target == "test_ui" && !KERF_HAS_WINDOW) GTEST_SKIP() << "this build has no window";
    ASSERT_TRUE(fs::exists(fs::path(KERF_BINARY_DIR) / "bin" / step.target)) << "build " << step.target << " first";
    ASSERT_EQ(tree.link(step.target), "");
    std::string output;
    EXPECT_EQ(tree.run(step.text, output), 0) << output;
    EXPECT_THAT(output, ::testing::HasSubstr("[  PASSED  ]"));
    EXPECT_THAT(output, ::testing::Not(::testing::HasSubstr("[  PASSED  ] 0 tests"))) << "the check runs no test";
  }

  const fs::path folder = fs::path(KERF_BINARY_DIR) / "docs" / GetParam();
  OverlayBuild tree{KERF_SOURCE_DIR, KERF_BINARY_DIR, folder};
};

TEST_P(HowTo, WorksWhenFollowedLiterally) {
  const auto steps = stepsOf(readText(fs::path(KERF_SOURCE_DIR) / "resources/docs" / (GetParam() + ".md")));
  ASSERT_FALSE(steps.back().target.empty()) << "a how-to ends with a check";
  for (const Step& step : steps) {
    SCOPED_TRACE(step.file.empty() ? "check " + step.target : step.file);
    follow(step);
    if (HasFatalFailure() || IsSkipped()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, HowTo, ::testing::ValuesIn(pages()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(HowToSteps, AreTheBlocksThatNameAFileOrACheck) {
  const auto steps = stepsOf(
      "text\n```cpp\nno step\n```\n1. new:\n   ```cpp file=a/b.cpp\n   int x;\n     int y;\n\n   ```\n"
      "```cpp file=a/c.def after=\"LAST (one)\"\nnext\n```\n```sh run=test_a\nbuild/bin/test_a\n```\n");
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].file, "a/b.cpp");
  EXPECT_EQ(steps[0].text, "int x;\n  int y;\n\n");
  EXPECT_EQ(steps[1].after, "LAST (one)");
  EXPECT_EQ(steps[1].text, "next\n");
  EXPECT_EQ(steps[2].target, "test_a");
}

TEST(HowToSteps, StepsThatDoNotFitTheTreeAreRefused) {
  OverlayBuild tree(KERF_SOURCE_DIR, KERF_BINARY_DIR,
                    fs::path(KERF_BINARY_DIR) / fmt::format("docs/refused_{}", getpid()));
  EXPECT_EQ(tree.apply({"CMakeLists.txt", "", "", "x"}), "CMakeLists.txt exists already");
  EXPECT_EQ(tree.apply({"no/such.def", "x", "", "y"}), "no/such.def does not exist");
  EXPECT_EQ(tree.apply({"LICENSE", "no such line", "", "y"}), "LICENSE has no line with 'no such line'");
  fs::remove_all(fs::path(KERF_BINARY_DIR) / fmt::format("docs/refused_{}", getpid()));
}

}  // namespace
}  // namespace kerf::docs
