#include "ui/session/file_follower.h"

#include <algorithm>

#include <QDir>
#include <QFileInfo>

namespace kerf::ui::inline session {

namespace {

constexpr int pauseMs = 300;
constexpr int mostWatched = 200;  ///< of a folder with very many logs the first ones

/// The capture's file or folder, and of a folder the logs in it.
QStringList pathsOf(const CaptureDoc& doc) {
  const auto path = QString::fromStdString(doc.path);
  const QFileInfo info(path);
  if (!info.exists() || doc.loading || doc.isStored()) return {};  // the store's own copy does not grow
  QStringList paths{path};
  if (info.isDir())
    for (const auto& log : QDir(path).entryInfoList({"*.log"}, QDir::Files)) paths << log.filePath();
  return paths;
}

bool grows(const CaptureDoc& doc) { return doc.kind == "torch_trace"; }

}  // namespace

FileFollower::FileFollower(Session& session, QObject* parent) : QObject(parent), m_session(session) {
  m_pause.setSingleShot(true);
  m_pause.setInterval(pauseMs);
  connect(&m_pause, &QTimer::timeout, this, &FileFollower::follow);
  connect(&session, &Session::capturesChanged, this, &FileFollower::watch);
  connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, &FileFollower::changed);
  connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, &FileFollower::changed);
}

void FileFollower::setEnabled(bool on) {
  m_enabled = on;
  watch();
}

void FileFollower::watch() {
  QSet<QString> wanted;
  for (const auto& doc : m_enabled ? m_session.captures() : std::vector<CaptureDocPtr>())
    for (const auto& path : pathsOf(*doc))
      if (wanted.size() < mostWatched) wanted.insert(path);
  const auto now = watched();
  const QSet<QString> known(now.begin(), now.end());
  const auto gone = (known - wanted).values(), fresh = (wanted - known).values();
  if (!gone.isEmpty()) m_watcher.removePaths(gone);
  if (!fresh.isEmpty()) m_watcher.addPaths(fresh);
}

void FileFollower::changed(const QString& path) {
  m_changed.insert(path);
  if (!m_pause.isActive()) m_pause.start();
}

void FileFollower::follow() {
  const auto changed = std::exchange(m_changed, {});
  for (const auto& doc : m_session.captures()) {
    const auto paths = pathsOf(*doc);
    const bool touched = std::ranges::any_of(paths, [&](const QString& path) { return changed.contains(path); });
    if (touched && grows(*doc)) m_session.refresh(doc->id);
    if (touched && !grows(*doc))
      emit m_session.noted(tr("%1 has changed on disk; F5 reads it again").arg(QFileInfo(paths.first()).fileName()));
  }
  watch();  // a file that was replaced is no longer watched
}

}  // namespace kerf::ui::inline session
