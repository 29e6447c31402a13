// MinifyWatch: turns the events of one minification into snapshots, not more of them than eyes can follow.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QTimer>

#include "ui/session/documents.h"

namespace kerf::ui::inline session {

class MinifyWatch : public QObject {
  Q_OBJECT

 public:
  explicit MinifyWatch(const QString& plant, QObject* parent = nullptr);
  void add(const workbench::MinifyEvent& event);
  void finish(const workbench::Minified& minified);
  void fail(const QString& error);
  void setSteps(std::vector<StepDoc> steps);
  bool running() const { return m_doc.state == MinifyDoc::State::Running; }
  /// A copy of the state now; cheap enough, for it is asked for at most every 50 ms.
  MinifyDocPtr snapshot() const { return std::make_shared<const MinifyDoc>(m_doc); }

 signals:
  void progressed();

 private:
  MinifyDoc m_doc;
  QElapsedTimer m_clock;
  QTimer m_throttle;
};

}  // namespace kerf::ui::inline session
