// Heartbeat: a watchdog over the event loop: how long it took at most to come round, and which event took longest then.
#pragma once

#include <string>

#include <QApplication>
#include <QTimer>

namespace kerf::ui::test {

/// Counts CPU time of this thread: on a machine that does other work too, clocks say nothing.
class Heartbeat {
 public:
  Heartbeat();
  /// Seconds; on a machine that is slower than usual, what they were there.
  double longest() const;
  /// "MetaCall to kerf::ui::JobQueue": what took most of it; empty where the test itself did.
  const std::string& culprit() const { return m_culprit; }
  /// What came before does not count.
  void restart();

 private:
  void beat();

  QTimer m_timer;
  double m_last = 0, m_longest = 0;
  std::string m_culprit;
};

/// Knows the longest of the events that were delivered since it was asked last.
class WatchedApplication : public QApplication {
 public:
  using QApplication::QApplication;
  bool notify(QObject* receiver, QEvent* event) override;
  /// "Paint to QWidget (12 ms)"; empty: nothing took a millisecond.
  static std::string takeLongest();

 private:
  int m_depth = 0;
};

/// Seconds that opening and browsing may hold the window up for.
double mostGap();
/// The same for any test, on a machine that does much else: caches that are shared make CPU time longer too.
double mostGapAnywhere();
/// For tests that change the theme: Qt styles every widget anew, in one piece.
double mostGapOfThemes();

}  // namespace kerf::ui::test
