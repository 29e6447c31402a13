// LayoutService: lays graphs out without ever holding up the window: on a worker, or where the user asks for it, by
// Graphviz as a child that can be killed.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QTimer>

#include "ui/graph_view/scene.h"
#include "ui/session/job_queue.h"

namespace kerf::ui::inline graph_view {

class LayoutService : public QObject {
  Q_OBJECT

 public:
  static constexpr int mostForDot = 500;
  static constexpr int timeoutMs = 8000;

  explicit LayoutService(JobQueue& jobs, QObject* parent = nullptr) : LayoutService(jobs, "layout", parent) {}
  /// `job`: a key of its own in the queue.
  LayoutService(JobQueue& jobs, const QString& job, QObject* parent = nullptr);
  ~LayoutService() override;
  /// Replaces the layout under way, if any. `before` is what was shown of the same graph, whose places are kept.
  void layOut(GraphDocPtr graph, const SceneOptions& options, ScenePtr before = nullptr);
  void cancel();
  bool busy() const { return m_busy; }
  /// Program to run instead of `dot` from PATH (tests).
  void setProgram(const QString& program) { m_program = program; }

 signals:
  void ready(kerf::ui::ScenePtr scene);
  void busyChanged();

 private:
  void readDot();
  void fallBack();
  void deliver(ScenePtr scene);
  void setBusy(bool busy);
  void killDot();

  JobQueue& m_jobs;
  QString m_job;
  QString m_program;
  QProcess* m_dot = nullptr;
  QTimer m_timeout;
  QElapsedTimer m_began;
  ScenePtr m_unplaced;  ///< what dot is working on
  bool m_busy = false;
};

}  // namespace kerf::ui::inline graph_view
