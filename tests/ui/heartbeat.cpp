#include "tests/ui/heartbeat.h"

#include <algorithm>

#include <QEvent>
#include <QMetaEnum>

#include <fmt/format.h>

#include "tests/support/cpu_time.h"

namespace kerf::ui::test {
namespace {

struct Delivery {
  double seconds = 0;
  std::string receiver;
  int type = 0;
};
Delivery g_longest;

}  // namespace

Heartbeat::Heartbeat() {
  m_timer.setTimerType(Qt::PreciseTimer);
  QObject::connect(&m_timer, &QTimer::timeout, [this] { beat(); });
  m_timer.start(1);
  restart();
}

void Heartbeat::restart() {
  m_last = kerf::testing::threadSeconds();
  m_longest = 0;
  m_culprit = WatchedApplication::takeLongest();
  m_culprit.clear();
}

void Heartbeat::beat() {
  const double now = kerf::testing::threadSeconds(), gap = now - m_last;
  const auto longest = WatchedApplication::takeLongest();
  m_last = now;
  if (gap <= m_longest) return;
  m_longest = gap;
  m_culprit = longest;
}

/// The receiver may be gone when the event has been delivered.
bool WatchedApplication::notify(QObject* receiver, QEvent* event) {
  if (m_depth > 0) return QApplication::notify(receiver, event);
  const auto* const meta = receiver->metaObject();
  const auto name = receiver->objectName().toStdString();
  const int type = event->type();
  const double before = kerf::testing::threadSeconds();
  ++m_depth;
  const bool done = QApplication::notify(receiver, event);
  --m_depth;
  const double seconds = kerf::testing::threadSeconds() - before;
  if (seconds > g_longest.seconds) g_longest = {seconds, meta->className() + (name.empty() ? name : "#" + name), type};
  return done;
}

std::string WatchedApplication::takeLongest() {
  const auto longest = std::exchange(g_longest, {});
  if (longest.seconds < 1e-3) return {};
  const auto* const type = QMetaEnum::fromType<QEvent::Type>().valueToKey(longest.type);
  return fmt::format("{} to {} ({:.0f} ms)", type ? type : "?", longest.receiver, longest.seconds * 1e3);
}

double mostGap() { return 0.05 * kerf::testing::sanitizedSlowdown; }

double mostGapAnywhere() { return 0.1 * kerf::testing::sanitizedSlowdown; }

double mostGapOfThemes() { return 0.6 * kerf::testing::sanitizedSlowdown; }

}  // namespace kerf::ui::test
