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

}  // namespace kerf::inline process
