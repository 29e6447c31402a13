// What an import says of each graph: what Kerf does not know of it, and what it lacks.
#pragma once

#include "app/workbench/workbench.h"
#include "engine/capture/common/capture.h"

namespace kerf::workbench {

/// Parses the graphs of a capture that are only indexed: all of them, or only where its files are small enough that
/// nobody waits. A graph that cannot be read stays as it is and becomes a note. Cancelled when the job is stopped.
Result<void> parseGraphs(Capture& capture, ImportRequest::Parse parse, const Job& job);

/// The capture as it was stored under `id`.
ImportedCapture importedCapture(const Capture& capture, std::int64_t id);

}  // namespace kerf::workbench
