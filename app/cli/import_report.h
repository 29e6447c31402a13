// What `kerf import` says of a capture that it stored: as JSON, and for people.
#pragma once

#include "app/cli/context.h"

namespace kerf::cli {

/// id, path, kind, torch_version, compiles, records, graphs, notes. Counts of graphs that are only indexed are null.
Json importedJson(const ImportedCapture& capture);
void printImported(const ImportedCapture& capture, bool verbose);

}  // namespace kerf::cli
