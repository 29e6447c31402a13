#include "engine/support/running_time.h"

#include <utility>

namespace kerf::inline support {

std::chrono::nanoseconds RunningTime::look(Clock::time_point now) {
  constexpr std::chrono::seconds away{1};
  const auto gap = now - std::exchange(m_last, now);
  if (gap < away) m_elapsed += gap;
  return m_elapsed;
}

}  // namespace kerf::inline support
