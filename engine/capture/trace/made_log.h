// A trace log that is made out of another file: its records as a log of TORCH_TRACE would have them, held in memory.
#pragma once

#include "engine/capture/common/capture.h"
#include "engine/capture/trace/log_records.h"

namespace kerf::inline capture::trace {

/// Compile ids and records of the made log, which `path` stands for. The log's text is moved out of `made` and lives
/// with the details. Errors: TraceIndex::add's.
Result<std::shared_ptr<CaptureDetails>> detailsOfMadeLog(LogRecords& made, const std::filesystem::path& path,
                                                         const ImportLimits& limits);

}  // namespace kerf::inline capture::trace
