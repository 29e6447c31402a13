// FileFollower: watches the files of the opened captures: a log that grows is read again by itself, of other files the
// user is told.
#pragma once

#include <QFileSystemWatcher>
#include <QSet>
#include <QTimer>

#include "ui/session/session.h"

namespace kerf::ui::inline session {

class FileFollower : public QObject {
  Q_OBJECT

 public:
  explicit FileFollower(Session& session, QObject* parent = nullptr);
  void setEnabled(bool on);
  bool enabled() const { return m_enabled; }
  /// Files and folders that are watched.
  QStringList watched() const { return m_watcher.files() + m_watcher.directories(); }

 private:
  void watch();
  void changed(const QString& path);
  void follow();

  Session& m_session;
  QFileSystemWatcher m_watcher;
  QTimer m_pause;  ///< a log that is written to changes many times a second
  QSet<QString> m_changed;
  bool m_enabled = true;
};

}  // namespace kerf::ui::inline session
