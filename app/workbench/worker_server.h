// serveWorker(): what `kerf worker` does: answers requests that come over a socket, one after the other.
#pragma once

#include "app/workbench/workbench.h"

namespace kerf::workbench {

/// Until the other end closes; then 0. Takes the file descriptor over. `version` greets the starter. When the starter
/// is gone while a request does not come to an end, the process ends itself.
int serveWorker(Workbench& bench, int file, const std::string& version);

}  // namespace kerf::workbench
