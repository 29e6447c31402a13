// Captured programs in the store: graphs as repro texts, and one file with the program's text and what became of it.
#pragma once

#include <cstdint>
#include <string>

#include "app/workbench/programs/program_runs.h"
#include "app/workbench/workbench.h"

namespace kerf::workbench {

/// Stores a program once, however often it is captured with the same outcome, and returns its id.
Result<std::int64_t> storeProgram(Workbench& bench, const CapturedProgram& program, const std::string& source);

/// What was stored of "c7", as JSON. Errors as those of ProgramReportRequest.
Result<std::string> storedProgramLog(Workbench& bench, const std::string& capture);

/// What such a log tells. A log that somebody else wrote has at worst less to tell.
ProgramReport programReport(const std::string& log);

}  // namespace kerf::workbench
