// Captures as rows of the store: what it keeps of records and compile ids beside the files themselves.
#pragma once

#include <string_view>
#include <vector>

#include "engine/capture/common/capture.h"
#include "storage/stores/store.h"

namespace kerf::workbench {

SourceRow sourceRow(const GraphOrigin& origin);
std::vector<RecordRow> recordRows(const CaptureDetails& details);
std::vector<CompileRow> compileRows(const CaptureDetails& details);

/// "none", "text", "json" or "python".
std::string_view formName(CaptureRecord::Form form);
/// Seconds of the whole compilation as the entry's metrics name them; -1 if they do not.
double secondsOf(const CompileEntry& entry);

}  // namespace kerf::workbench
