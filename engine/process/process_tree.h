// The processes below one: which they are, what they use, and their end, however many they are and whatever they
// ignore.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace kerf::inline process {

/// Processes that descend from `root`, without it; what a subreaper took over counts. What begins while this looks may
/// be missing, and what has ended but was not waited for is left out.
/// Takes no more time than `most` processes need, however many there are: looking must not lose against a fork bomb.
std::vector<pid_t> processesBelow(pid_t root, std::size_t most = std::size_t(-1));

/// Memory that would be free without these processes, in bytes: pages that several of them share (shared memory too)
/// count once, as far as the system tells. What is in no process's address space, such as a file in /dev/shm that was
/// only written, is not seen. Up to `enough` it may be told too high, which is quicker.
std::int64_t memoryOf(const std::vector<pid_t>& processes, std::int64_t enough);

/// Ends everything below `root`: stops all first, so that nothing new begins, then kills. False when something was
/// still there after some seconds. Waits for nothing: the dead are `root`'s to reap.
bool killBelow(pid_t root);

/// Threads of all processes of this user: what RLIMIT_NPROC counts.
std::int64_t tasksOfUser();

/// Kills whatever was started with `variable` ("NAME=VALUE") in its environment: the last resort where the process that
/// knew the tree is gone.
void killMarked(const std::string& variable);

}  // namespace kerf::inline process
