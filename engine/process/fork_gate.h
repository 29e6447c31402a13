// The gate between forks and work: no child finds work of another thread half done.
#pragma once

#include <functional>

#include <sys/types.h>

namespace kerf::inline process {

/// A child of fork() has only the thread that forked. What another one was in the midst of (a static object that is made
/// on first use, a lock of a library) stays as it was then, and a child that comes to it waits forever. Computing in
/// this process beside threads that fork goes through here, in pieces as short as may be: forkBetweenWork() waits for
/// the end of one. The work itself must not fork.
void withoutForks(const std::function<void()>& work);

/// fork(), while no thread is in withoutForks().
pid_t forkBetweenWork();

}  // namespace kerf::inline process
