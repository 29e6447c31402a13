// Running kerf so that it dies at a counted step, or the disk is full from one on (tests/io_steps).
#pragma once

#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "engine/support/sanitizers.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {

/// Whether the environment of a process (its start, for children made by fork) has `entry`.
inline bool hasInEnvironment(const fs::path& process, const std::string& entry) {
  std::ifstream stream(process / "environ", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return ('\0' + text).find('\0' + entry + '\0') != std::string::npos;
}

class StepsTest : public CliTest {
 protected:
  /// kerf under `steps` ("kill:17").
  ProgramResult runSteps(const std::string& steps, const std::vector<std::string>& arguments) {
    setenv("KERF_STORE", store().c_str(), 1);
    setenv("TMPDIR", folder.c_str(), 1);
    std::vector<std::string> command{"env", "LD_PRELOAD=" + library.string(), "KERF_IO_STEPS=" + steps, kerf.string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto result = runProgram(command, {}, std::chrono::seconds(800));
    unsetenv("TMPDIR");
    EXPECT_TRUE(result) << result.error().text();
    return result ? *result : ProgramResult{-1, {}, {}};
  }
  /// How many steps a command takes when nothing happens.
  std::uint64_t countSteps(const std::vector<std::string>& arguments) {
    const auto file = folder / "steps";
    const auto result = runSteps("count:" + file.string(), arguments);
    EXPECT_EQ(result.status, 0) << result.errors;
    std::uint64_t count = 0;
    std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&count), sizeof count);
    fs::remove(file);
    EXPECT_GT(count, 5u);
    return count;
  }
  /// `count` steps of 1…total, one in each part of the way.
  static std::vector<std::uint64_t> points(std::uint64_t total, int count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint64_t> chosen;
    for (int i = 0; i < count; ++i) {
      const auto from = total * std::uint64_t(i) / std::uint64_t(count);
      const auto to = total * std::uint64_t(i + 1) / std::uint64_t(count);
      chosen.push_back(from + 1 + random() % std::max<std::uint64_t>(1, to - from));
    }
    return chosen;
  }
  /// `usual`, fewer where sanitizers make each command slow, or what the environment variable says.
  static int rounds(const char* variable, int usual) {
    if (addressSanitizer) usual = std::max(2, usual / 3);
    const char* given = std::getenv(variable);
    return given == nullptr ? usual : std::atoi(given);
  }
  /// Whether a process of this test's store is left.
  bool processesLeft() const {
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator("/proc", gone)) {
      const auto name = entry.path().filename().string();
      if (std::isdigit(static_cast<unsigned char>(name[0])) == 0 || name == std::to_string(getpid())) continue;
      if (hasInEnvironment(entry.path(), "KERF_STORE=" + store())) return true;
    }
    return false;
  }
  /// Names below the folder that begin or end like something temporary.
  std::vector<std::string> filesLeft() const {
    std::vector<std::string> left;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const auto name = entry.path().filename().string();
      const bool temporary = name.starts_with("kerf-") || name.ends_with(".tmp") || name.ends_with("-wal") ||
                             name.ends_with("-shm") || name.ends_with("-journal") ||
                             name.find(".damaged") != std::string::npos;
      if (temporary) left.push_back(fs::relative(entry.path(), folder).string());
    }
    return left;
  }

  const fs::path library = fs::path(KERF_BINARY_DIR) / "bin/kerf_io_steps.so";
};

}  // namespace kerf::cli
