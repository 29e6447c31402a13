// runProgram(): another program as a child: arguments without a shell, input and output through pipes, a time limit.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline process {

struct ProgramResult {
  int status = 0;  ///< exit status; 128 + signal if a signal ended it
  std::string output, errors;
};

/// Most bytes that a program may print where a caller has no opinion: a drawing of a large graph has some 100 MB.
inline constexpr std::size_t mostProgramOutput = std::size_t{1} << 30;

/// The program and its children end with this process. Environment when the program is not there, cannot start, takes
/// longer than `timeout` or prints more than `mostBytes`; Cancelled on stop.
Result<ProgramResult> runProgram(const std::vector<std::string>& command, const std::string& input,
                                 std::chrono::milliseconds timeout, std::stop_token stop = {},
                                 std::size_t mostBytes = mostProgramOutput);

/// Starts a program that outlives this one, in a session of its own.
Result<void> startDetached(const std::vector<std::string>& command);

/// Full path of a program on PATH, or empty.
std::filesystem::path findProgram(const std::string& name);
/// Folder that holds the running program.
std::filesystem::path programFolder();

}  // namespace kerf::inline process
