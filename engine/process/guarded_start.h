// startGuarded(): a program in a process group of its own, of which the guardian knows before the program runs.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "engine/support/result.h"

namespace kerf::inline process {

/// What the program finds open as its standard files.
struct StandardFiles {
  int in = -1, out = -1, errors = -1;
};

/// The program's process, which leads its group; with signals as in a new one, whatever this process ignores. The group
/// gets SIGKILL when this process ends before releaseGroup(), at whatever moment. Environment when the program is not
/// there or cannot start.
Result<pid_t> startGuarded(const std::vector<std::string>& command, const StandardFiles& files);

}  // namespace kerf::inline process
