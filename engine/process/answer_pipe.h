// answerPipe(): which file a child of callIsolated() answers by, for whoever closes or forbids all others.
#pragma once

namespace kerf::inline process {

/// The file descriptor of the pipe to the parent; -1 in a process that is no such child.
int answerPipe();

}  // namespace kerf::inline process
