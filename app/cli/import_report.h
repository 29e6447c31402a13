// What `kerf import` says of a capture that it stored: as JSON, and for people.
#pragma once

#include "app/cli/context.h"
#include "engine/capture/common/capture.h"

namespace kerf::cli {

/// Parses the graphs of a capture that are only indexed: all of them, or (without `all`) only where its files are small
/// enough that nobody waits. A graph that cannot be read stays as it is and becomes a note. Cancelled when `stop` says
/// so.
Result<void> parseGraphs(Capture& capture, bool all, std::stop_token stop);

/// id, path, kind, torch_version, compiles, records, graphs, notes. Counts of graphs that are only indexed are null.
Json importedJson(const Capture& capture, std::int64_t id);
void printImported(const Json& capture, bool verbose);

/// "none", "text", "json" or "python".
std::string_view formName(CaptureRecord::Form form);

}  // namespace kerf::cli
