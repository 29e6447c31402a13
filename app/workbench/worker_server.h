// serveWorker(): what `kerf worker` does: answers requests that come over a socket, one after the other.
#pragma once

#include "app/workbench/workbench.h"

namespace kerf::workbench {

/// answerCalls() for the requests of `bench`.
int serveWorker(Workbench& bench, int file, const std::string& version);

}  // namespace kerf::workbench
