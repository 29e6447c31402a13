// RunningTime: how long something has taken, without the time in which this process did not run.
#pragma once

#include <chrono>

namespace kerf::inline support {

/// A stopwatch for whoever looks at it often, at least every half second. A second or more between two looks was no
/// wait: this process was stopped (Ctrl-Z, SIGSTOP, a debugger, a frozen container) or got no processor at all. Such
/// gaps do not count, so that nothing is late because its judge was away. One thread at a time.
class RunningTime {
 public:
  using Clock = std::chrono::steady_clock;
  std::chrono::nanoseconds elapsed() { return look(Clock::now()); }
  /// elapsed() at a time of the clock, not before that of the last look.
  std::chrono::nanoseconds look(Clock::time_point now);

 private:
  Clock::time_point m_last = Clock::now();
  std::chrono::nanoseconds m_elapsed{};
};

}  // namespace kerf::inline support
