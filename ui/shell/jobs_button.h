// JobsButton: what is under way, for how long and how far, in the status bar; its menu lists every job with a way to stop it.
#pragma once

#include <QTimer>
#include <QToolButton>

#include "ui/session/session.h"

namespace kerf::ui::inline shell {

class JobsButton : public QToolButton {
  Q_OBJECT

 public:
  explicit JobsButton(Session& session, QWidget* parent = nullptr);
  /// Work of the window itself that is no job; empty: none.
  void setOwn(const QString& doing);
  void refresh();

 private:
  void fillMenu();
  QString lineOf(const JobQueue::Work& work) const;

  Session& m_session;
  QString m_own;
  QTimer m_tick;
};

/// "Comparing" of a job's key, "compare:1/0/joint".
QString jobTitle(const QString& key);

}  // namespace kerf::ui::inline shell
