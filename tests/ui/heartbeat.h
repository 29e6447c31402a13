// Heartbeat: a watchdog over the event loop: how long it took at most to come round.
#pragma once

#include <QTimer>

namespace kerf::ui::test {

/// Counts CPU time of this thread: on a machine that does other work too, clocks say nothing.
class Heartbeat {
 public:
  Heartbeat();
  /// Seconds.
  double longest() const { return m_longest; }
  /// What came before does not count.
  void restart();

 private:
  void beat();

  QTimer m_timer;
  double m_last = 0, m_longest = 0;
};

/// Seconds that opening and browsing may hold the window up for; the goal is 0.05.
double mostGap();
/// The same for any test, on a machine that does much else.
double mostGapAnywhere();

}  // namespace kerf::ui::test
