// Guardian: a small process beside this one that cleans up when this one ends, in whatever way: it ends the process
// groups and removes the folders that were left.
#pragma once

#include <filesystem>

#include <sys/types.h>

#include "engine/process/owned_file.h"

namespace kerf::inline process {

/// The folder goes with this process unless release() comes first. The guardian is started by the first call; where it
/// cannot be, nothing is guarded.
void guardFolder(const std::filesystem::path& folder);
void releaseFolder(const std::filesystem::path& folder);

/// How a child that was just forked tells the guardian of its parent: the child gives the order, because the parent may be
/// killed before it could.
class GuardianLine {
 public:
  /// To this process's guardian, which is started if there is none.
  static GuardianLine toOwnGuardian();
  /// In the child: all processes of its group get SIGKILL when its parent ends before releaseGroup(). May be called
  /// where a signal handler may be.
  void guardOwnGroup() const;

 private:
  OwnedFile m_orders;
};
void releaseGroup(pid_t group);

/// The guardian cleans up now and is waited for, up to two seconds; nothing is guarded any more. For the end of a
/// process, and done by exit(): where init waits for nobody's children, a zombie would be left.
void dismissGuardian();

}  // namespace kerf::inline process
