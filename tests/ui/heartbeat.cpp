#include "tests/ui/heartbeat.h"

#include <algorithm>

#include "tests/support/cpu_time.h"

namespace kerf::ui::test {

Heartbeat::Heartbeat() {
  m_timer.setTimerType(Qt::PreciseTimer);
  QObject::connect(&m_timer, &QTimer::timeout, [this] { beat(); });
  m_timer.start(1);
  restart();
}

void Heartbeat::restart() {
  m_last = kerf::testing::threadSeconds();
  m_longest = 0;
}

void Heartbeat::beat() {
  const double now = kerf::testing::threadSeconds();
  m_longest = std::max(m_longest, now - m_last);
  m_last = now;
}

double mostGap() { return 0.25 * kerf::testing::sanitizedSlowdown; }

double mostGapAnywhere() { return 1.0 * kerf::testing::sanitizedSlowdown; }

}  // namespace kerf::ui::test
