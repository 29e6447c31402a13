// runContained(): a program that nobody vouches for. However it ends, nothing that it started is left, and what it may
// use up until then is bounded.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/process/candidate_limits.h"
#include "engine/process/clipped_text.h"
#include "engine/process/namespaces.h"
#include "engine/support/result.h"

namespace kerf::inline process {

struct ContainedCommand {
  std::vector<std::string> arguments;  ///< the first is a path
  std::filesystem::path folder;        ///< to run in
  std::chrono::milliseconds timeout{60'000};
  CandidateLimits limits;
  /// How it is kept; what the system does not allow becomes Subreaper.
  Containment containment = Containment::Namespace;
};

enum class ContainedEnd { Exited, Signalled, TimedOut, Cancelled, Memory, Processes, Output };

struct ContainedResult {
  ContainedEnd end = ContainedEnd::Exited;
  /// Exit status; the signal for Signalled, also for a command that ended its supervisor by it; 0 for all else.
  int status = 0;
  int leftovers = 0;  ///< processes that still were there when the command had ended, and were ended with it
  ClippedText output, errors;
};

/// Runs the command with nothing on its standard input, in a session of its own. What takes longer than `timeout`,
/// prints too much or is stopped gets SIGTERM, everything below it too, and SIGKILL 0.3 s later. SIGKILL at once is for
/// what is over the limits of memory and processes, and for what is left when the command has ended. All of it ends when
/// this process does, in whatever way. Environment when the command or its supervisor cannot start, or when a network
/// cannot be taken away. Thread-safe.
Result<ContainedResult> runContained(const ContainedCommand& command, std::stop_token stop = {});

/// Half of this machine's memory, or of what this process's control group has.
std::int64_t usualMemoryLimit();

}  // namespace kerf::inline process
