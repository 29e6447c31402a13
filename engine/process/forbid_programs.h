// forbidPrograms(): a process that computes, and is to do nothing else.
#pragma once

namespace kerf::inline process {

/// From now on this process and its children can start no program and cannot leave their process group (EPERM), so that
/// ending the group ends all. Does nothing where the kernel has no seccomp filters, and under a sanitizer, whose
/// reports need a symboliser.
void forbidPrograms();

}  // namespace kerf::inline process
