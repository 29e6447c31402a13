// Records of logs and debug folders: finding one by the text that names it.
#pragma once

#include "app/workbench/captures/capture_source.h"

namespace kerf::workbench {

/// A record and the capture that it is read from.
struct RecordSource {
  CaptureSourcePtr capture;
  std::size_t index = 0;
  const CaptureRecord& record() const { return capture->capture.details->records[index]; }
};

/// "c3/r17", or "trace.log#r17" and "trace.log#name" where no graph has that name; nothing when `text` is no record.
Result<std::optional<RecordSource>> resolveRecord(Workbench& bench, const std::string& text, const Job& job);

}  // namespace kerf::workbench
