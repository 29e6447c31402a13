// The document of a trace's compilations, made of its log.
#pragma once

#include "app/workbench/logs/log_tables.h"

namespace kerf::workbench {

/// Everything but the tables.
CompileLogDoc compileLogDoc(const LogView& view);
/// Short lines that belong beside a compile id.
std::vector<std::string> compileRemarks(const CompileStory& story);
/// Whether the capture has such a log at all: debug folders have records, and none of this.
bool isTrace(const Capture& capture);
/// Reads the log of an opened capture.
Result<CompileLog> compileLogOf(const CaptureSource& source, const Job& job);

}  // namespace kerf::workbench
