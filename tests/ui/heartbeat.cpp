#include "tests/ui/heartbeat.h"

#include <algorithm>
#include <cstdint>
#include <map>

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
constexpr auto timerOfBeats = "heartbeat";

/// CPU seconds of a piece of work that is always the same: allocations, strings and a tree.
double referenceWork() {
  const double before = kerf::testing::threadSeconds();
  std::map<std::string, std::size_t> words;
  std::uint32_t random = 1;
  for (std::size_t i = 0; i < 20'000; ++i) {
    random = random * 1664525u + 1013904223u;
    words[std::to_string(random)] += i;
  }
  volatile std::size_t sum = 0;
  for (const auto& [word, count] : words) sum = sum + word.size() * count;
  return kerf::testing::threadSeconds() - before;
}

/// How much slower this machine is now than the one for which the bounds stand; 1 where it is not, and at most 3: what
/// takes longer than that is no matter of the machine. The mean of a few, since the gap too took what the machine gave.
double slowness() {
  constexpr int tries = 4;
  constexpr double most = 3;
  constexpr double usual = 6.5e-3 * kerf::testing::sanitizedSlowdown;
  double sum = 0;
  for (int i = 0; i < tries; ++i) sum += referenceWork();
  return std::clamp(sum / tries / usual, 1.0, most);
}

}  // namespace

Heartbeat::Heartbeat() {
  m_timer.setObjectName(timerOfBeats);
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

double Heartbeat::longest() const { return m_longest; }

/// A gap beyond the bound is measured against the machine at once: on a machine that others use, a second later is
/// another speed.
void Heartbeat::beat() {
  double gap = kerf::testing::threadSeconds() - m_last;
  const auto longest = WatchedApplication::takeLongest();
  if (gap > m_longest && gap > mostGap()) gap /= slowness();
  m_last = kerf::testing::threadSeconds();
  if (gap <= m_longest) return;
  m_longest = gap;
  m_culprit = longest;
}

/// The receiver may be gone when the event has been delivered. A beat that measures the machine takes long, and is no
/// work of the window.
bool WatchedApplication::notify(QObject* receiver, QEvent* event) {
  if (m_depth > 0 || receiver->objectName() == timerOfBeats) return QApplication::notify(receiver, event);
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
