// How long tests wait for what must come: for as long as ctest lets them.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/support/sanitizers.h"

namespace kerf::test {

/// A machine that does much else is slow, not wrong. A little less than a test may take (KERF_TEST_TIMEOUT), so that one
/// that waits in vain can say for what.
constexpr std::chrono::seconds patience{addressSanitizer || threadSanitizer ? 870 : 280};

/// Whether the condition came true. Looks often at first, then more rarely: looking takes time from what it waits for.
template <typename Condition>
bool waitUntil(const Condition& condition) {
  using namespace std::chrono_literals;
  constexpr auto longestPause = 20ms;
  const auto end = std::chrono::steady_clock::now() + patience;
  for (auto pause = 1ms; !condition(); pause = std::min(2 * pause, std::chrono::milliseconds(longestPause))) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace kerf::test
