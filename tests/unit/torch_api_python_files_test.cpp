// The Python half of torch: each file of tests/torch runs in the sandbox, and its tests say whether they passed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "engine/torch_api/torch_environment.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(KERF_SOURCE_DIR) / "tests" / "torch";

std::string textOfFile(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> testFiles() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().filename().string().starts_with("test_")) names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

class TorchPythonFile : public ::testing::TestWithParam<std::string> {};

TEST_P(TorchPythonFile, PassesInTheSandbox) {
  ProgramRequest request{.text = textOfFile(kFolder / (GetParam() + ".py")), .name = GetParam() + ".py"};
  request.driver = textOfFile(kFolder / "driver.py");
  const auto answer = runProgram(request, torchEnvironment(), encodeObject);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->output, "all passed");
  EXPECT_EQ(answer->exitStatus, 0);
}

INSTANTIATE_TEST_SUITE_P(Files, TorchPythonFile, ::testing::ValuesIn(testFiles()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kerf
