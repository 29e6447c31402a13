// What `kerf import` prints.
#pragma once

#include <string>

#include "app/cli/context.h"

namespace kerf::cli {

// What `kerf import` says of a capture that it stored: as JSON, and for people.

/// id, path, kind, torch_version, compiles, records, graphs, notes. Counts of graphs that are only indexed are null.
void printImported(const ImportedCapture& capture, bool verbose);

// followLog(): a TORCH_TRACE log that PyTorch is still writing, shown as it grows and stored at the end.

/// Prints new graphs, compile ids and records as they become whole, until Ctrl-C; then stores what came and returns 0.
/// With --json one object a line: `event` is "graph", "compile", "record" or "done".
Result<int> followLog(Context& context, const std::string& path);

}  // namespace kerf::cli
