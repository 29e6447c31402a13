// When a process began: with its number, what tells it from a later process of the same number.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace kerf::inline support {

/// In ticks after the system's start; 0 if there is no such process.
std::uint64_t processStart(pid_t pid);

}  // namespace kerf::inline support
