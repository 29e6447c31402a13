// Guardian: a small process beside this one that cleans up when this one ends, in whatever way: it ends the process
// groups and removes the folders that were left.
#pragma once

#include <filesystem>

#include <sys/types.h>

namespace kerf::inline process {

/// The folder goes with this process unless release() comes first. The guardian is started by the first call; where it
/// cannot be, nothing is guarded.
void guardFolder(const std::filesystem::path& folder);
void releaseFolder(const std::filesystem::path& folder);

/// All processes of the group get SIGKILL when this process ends before the release.
void guardGroup(pid_t group);
void releaseGroup(pid_t group);

/// The guardian cleans up now and is waited for, up to two seconds; nothing is guarded any more. For the end of a
/// process, and done by exit(): where init waits for nobody's children, a zombie would be left.
void dismissGuardian();

}  // namespace kerf::inline process
