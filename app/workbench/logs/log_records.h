// The records of a trace for other programs: JSON lines with resolved file names, and the timeline for Perfetto.
#pragma once

#include <iosfwd>

#include "app/workbench/logs/log_pages.h"

namespace kerf::workbench {

/// One JSON object a line: {"record": "r17", "log": "…", "line": 12, "direction": …, "payload": "records/r17.txt",
/// "header": {…}}; in the header, numbers of file names are replaced by the names.
void writeRecordLines(const LogPages& pages, std::ostream& out);

/// The chromium events as they were logged, in Chrome's JSON format; of several ranks, each is a process.
void writeTimeline(const LogView& view, std::ostream& out);

/// Inductor's estimates as such a timeline: a process for each rank, a thread for each graph, its ops one behind the
/// other.
void writeEstimates(const LogView& view, std::ostream& out);

/// "filename": 3 as "filename": "train.py", everywhere in the object.
std::string withFileNames(std::string_view json, const std::map<std::int64_t, std::string>& files);

}  // namespace kerf::workbench
