// What tests may say about speed on a machine that does other work as well: CPU time, with room for sanitizers.
#pragma once

#include <ctime>

#include "engine/support/sanitizers.h"

namespace kerf::testing {

/// Limits are what an idle machine needs; they catch work that grows too fast, not a slow day, so a busy machine gets four
/// times as much, sanitized code twenty times. Speed itself is measured by `kerf bench` and tests/bench.
constexpr double slowdown = addressSanitizer || threadSanitizer ? 20 : 4;
/// Without room for other work on the machine.
constexpr double sanitizedSlowdown = addressSanitizer || threadSanitizer ? 20 : 1;

/// CPU seconds that the calling thread has used.
inline double threadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
}

/// CPU seconds that the work takes, all threads of the process together.
template <typename Work>
double cpuSecondsOf(const Work& work) {
  const auto processSeconds = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
  };
  const double start = processSeconds();
  work();
  return processSeconds() - start;
}

}  // namespace kerf::testing
