// A recording of a run as a request names it: a file, or one side of a folder of `kerf record`.
#pragma once

#include <string>

#include "app/workbench/workbench.h"
#include "engine/align/read_recording.h"

namespace kerf::workbench {

/// Whether the path is a folder that `kerf record` wrote values into.
bool isRecordFolder(const std::string& path);

/// `side`: "compiled", "eager", or empty for the compiled one. `graph` names a graph whose nodes the steps are named
/// after; a folder of `kerf record` has its own. BadInput for what is no recording.
Result<RunRecording> openRecording(Workbench& bench, const std::string& path, const std::string& side,
                                   const std::string& graph, const Job& job);

}  // namespace kerf::workbench
