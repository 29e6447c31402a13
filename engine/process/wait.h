// Waiting for a child process.
#pragma once

#include <chrono>
#include <string>

#include <sys/types.h>

namespace kerf::inline process {

/// Waits for the child's end, whatever interrupts that, and takes its wait status; 0 if it is no child of this process.
int waitForEnd(pid_t child);

/// Whether the child has ended. Asked without taking its status, which is still to be read.
bool hasEnded(pid_t child);

/// The same after at most `time`, as soon as it has.
bool endsWithin(pid_t child, std::chrono::milliseconds time);

/// "SIGSEGV", or "signal 65" for one without a name.
std::string nameOfSignal(int signal);

}  // namespace kerf::inline process
