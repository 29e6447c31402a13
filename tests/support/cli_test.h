// CliTest: drives the real kerf program with a store and folder of its own.
#pragma once

#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "engine/process/program.h"
#include "tests/support/patience.h"
#include "tests/support/small_repro.h"

namespace kerf::cli {

namespace fs = std::filesystem;
using nlohmann::json;

class CliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder =
        fs::temp_directory_path() / fmt::format("kerf_cli_{}_{}_{}", getpid(), info->test_suite_name(), info->name());
    fs::remove_all(folder);
    fs::create_directories(folder);
    ASSERT_TRUE(fs::exists(kerf)) << "build the target kerf first";
  }
  void TearDown() override { fs::remove_all(folder); }

  /// Runs kerf with this test's store; `status`, `output` and `errors` of the result.
  ProgramResult run(std::vector<std::string> arguments, std::chrono::seconds timeout = std::chrono::seconds(800)) {
    setenv("KERF_STORE", store().c_str(), 1);
    setenv("TMPDIR", folder.c_str(), 1);
    arguments.insert(arguments.begin(), kerf.string());
    auto result = runProgram(arguments, {}, timeout);
    unsetenv("TMPDIR");
    EXPECT_TRUE(result) << result.error().text();
    return result ? *result : ProgramResult{-1, {}, {}};
  }
  json runJson(std::vector<std::string> arguments, int expectedStatus = 0) {
    arguments.emplace_back("--json");
    const auto result = run(std::move(arguments));
    EXPECT_EQ(result.status, expectedStatus) << result.errors;
    auto object = json::parse(result.output, nullptr, false);
    EXPECT_TRUE(object.is_object()) << result.output;
    return object;
  }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
  }
  std::string store() const { return (folder / "kerf.db").string(); }
  /// A graph with one relu that imports with no storages: random inputs stand in.
  fs::path smallRepro(const std::string& forward) const { return write("small.py", test::smallRepro(forward)); }
  fs::path reluRepro() const { return smallRepro(test::reluForward); }

  fs::path folder;
  const fs::path kerf = fs::path(KERF_BINARY_DIR) / "bin/kerf";
  const std::string sample = std::string(KERF_SOURCE_DIR) + "/resources/samples/mlp8/minifier_launcher.py";
};

/// kerf running beside the test.
class RunningKerf {
 public:
  RunningKerf(const fs::path& program, std::vector<std::string> arguments, const fs::path& output) {
    arguments.insert(arguments.begin(), program.string());
    std::vector<char*> pointers;
    for (auto& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, (output.string() + ".err").c_str(), O_CREAT | O_WRONLY | O_TRUNC,
                                     0600);
    EXPECT_EQ(posix_spawn(&m_pid, program.c_str(), &actions, nullptr, pointers.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  void signal(int number) const { kill(m_pid, number); }
  pid_t pid() const { return m_pid; }
  int wait() const {
    int status = 0;
    waitpid(m_pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t m_pid = 0;
};

using test::waitUntil;

inline std::string textOf(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace kerf::cli
