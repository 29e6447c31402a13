// MinifyWatch: turns the events of one minification into snapshots, not more of them than eyes can follow.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QTimer>

#include "app/workbench/protocol/job_control.h"
#include "ui/session/documents.h"

namespace kerf::ui::inline session {

class MinifyWatch : public QObject {
  Q_OBJECT

 public:
  explicit MinifyWatch(const QString& plant, const std::string& backend, QObject* parent = nullptr);
  void add(const workbench::MinifyEvent& event);
  void add(const workbench::MinifyWorkEvent& event);
  void finish(const workbench::Minified& minified);
  void fail(const QString& error);
  void setSteps(std::vector<StepDoc> steps);
  void setCandidate(GraphDocPtr graph);
  void setNeighbour(workbench::Neighbour neighbour);
  /// Wishes to the search while it runs. Going back drops the steps behind `step` at once; those of them that the search
  /// still reports until it obeys are not shown. Nothing happens where there is no step behind it.
  void setPaused(bool paused);
  void undoTo(int step);
  std::shared_ptr<workbench::JobControl> control() const { return m_control; }
  bool running() const { return m_doc.state == MinifyDoc::State::Running; }
  /// A copy of the state now; cheap enough, for it is asked for at most every 50 ms.
  MinifyDocPtr snapshot() const { return std::make_shared<const MinifyDoc>(m_doc); }

 signals:
  void progressed();

 private:
  void accept(const workbench::MinifyEvent& event);

  MinifyDoc m_doc;
  std::shared_ptr<workbench::JobControl> m_control = std::make_shared<workbench::JobControl>();
  std::vector<int> m_accepted;  ///< by order of acceptance: the step; -1: undone since
  QElapsedTimer m_clock;
  QTimer m_throttle;
};

}  // namespace kerf::ui::inline session
