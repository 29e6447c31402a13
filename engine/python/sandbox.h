// The sandbox of a program's process: which system calls are left, and what Python says of the others.
#pragma once

#include "engine/support/result.h"

namespace kerf::inline python {

/// Closes all files but the pipe, and leaves this process memory, clocks, futexes and writing to the pipe; every other
/// system call fails with EPERM from now on. Environment where there is no libseccomp or the kernel has no filters.
Result<void> enterSandbox(int pipe);

/// From now on what a program must not do raises PermissionError, which names it and the program's line, before the
/// filter would refuse it. Call with the interpreter started.
bool refuseInPython();

}  // namespace kerf::inline python
