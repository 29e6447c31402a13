// Workers: the worker processes of a session. Each opened capture has one for browsing, compiling for view has one, and
// each long job gets its own, so that browsing never waits.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include <QString>
#include <QThreadPool>

#include "app/workbench/protocol/remote_workbench.h"

namespace kerf::ui::inline session {

using RemotePtr = std::shared_ptr<workbench::RemoteWorkbench>;

class Workers {
 public:
  Workers();
  /// The store that workers from now on use; empty: the user's own.
  void setStore(const QString& path) { m_store = path.toStdString(); }
  QString store() const { return QString::fromStdString(m_store); }
  /// For browsing a capture. When many are idle, the ones that were used longest ago are ended; they start again by
  /// themselves.
  RemotePtr forBrowsing();
  /// Marks a browsing worker as used now.
  void touch(const RemotePtr& worker);
  RemotePtr forJob();
  /// For good, and without waiting: they end by themselves, what they work on is cancelled. Those that do not end at
  /// once are killed before this goes.
  void hangUpAll();

 private:
  RemotePtr start();

  QThreadPool m_farewells;  ///< waits for the ends of workers that nobody needs any more
  std::string m_store;
  std::vector<std::weak_ptr<workbench::RemoteWorkbench>> m_all;
  std::list<std::weak_ptr<workbench::RemoteWorkbench>> m_browsing;  ///< the last one was used last
};

}  // namespace kerf::ui::inline session
