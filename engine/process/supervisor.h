// The supervisor: a process between Kerf and a candidate that knows all that the candidate starts, holds it to its
// limits and ends it: when the candidate is done, when it is told to, and when Kerf is gone.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <sys/types.h>

#include "engine/process/candidate_limits.h"
#include "engine/process/namespaces.h"

namespace kerf::inline process {

/// What the supervisor is told: its socket closes, or this comes.
enum class SupervisorOrder : char { End };

/// What it tells, in one packet, as its last word.
struct SupervisorReport {
  enum class End : int { Exited, Ordered, Memory, Processes, CannotStart, CannotContain } end = End::Exited;
  /// Wait status of the command, if it ended, or of a supervisor that it ended; for CannotStart an errno.
  int status = 0;
  int leftovers = 0;            ///< processes that were there when the command had ended
  std::array<char, 200> why{};  ///< for CannotContain: a text with a null character at its end
};

struct SupervisedCommand {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  ///< "NAME=VALUE"
  std::string folder;                    ///< to run in
  CandidateLimits limits;
  Containment containment = Containment::Subreaper;
  int output = -1, errors = -1;  ///< where it writes to
  int control = -1;              ///< socket of packets: orders come in, the report goes out
};

/// What a forked child becomes; ends with its candidate. `parent` is who forked it.
[[noreturn]] void superviseCommand(const SupervisedCommand& command, pid_t parent);

}  // namespace kerf::inline process
