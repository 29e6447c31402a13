// The gate is a mutex, and a count of those who wait to fork. Not pthread_atfork(): other handlers take locks that the
// work needs to come to its end.
#include "engine/process/fork_gate.h"

#include <atomic>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace kerf::inline process {

namespace {

struct Gate {
  std::mutex mutex;
  std::atomic<int> forks = 0;  ///< that wait
};

/// Never destroyed: a thread may outlive main().
Gate& gate() {
  static auto* const instance = new Gate;
  return *instance;
}

}  // namespace

void withoutForks(const std::function<void()>& work) {
  while (gate().forks > 0) std::this_thread::yield();  // who works piece by piece must not keep them waiting
  const std::lock_guard lock(gate().mutex);
  work();
}

pid_t forkBetweenWork() {
  ++gate().forks;
  gate().mutex.lock();
  --gate().forks;
  const pid_t pid = ::fork();
  if (pid == 0) gate().forks = 0;  // who waits in the parent is not here
  gate().mutex.unlock();           // in both processes
  return pid;
}

}  // namespace kerf::inline process
