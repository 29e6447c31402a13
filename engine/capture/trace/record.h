// One record of a log by itself: everything that can be told without the records before it.
#pragma once

#include "engine/capture/trace/graph.h"
#include "engine/capture/trace/header.h"
#include "engine/capture/trace/scanner.h"

namespace kerf::inline capture::trace {

struct PreparedRecord {
  bool good = false;  ///< false: the header's JSON is malformed, nothing else is set
  TraceHeader header;
  GraphForm form = GraphForm::None;
  std::string_view payload;  ///< with its tabs
  CaptureRecord record;
};

/// Reads the record in `text`, which starts `base` bytes into the log `path`. `rank` is the log's, for records that do
/// not name theirs. Views point into `text`.
PreparedRecord prepareRecord(std::string_view text, const RawRecord& raw, std::int64_t base,
                             const std::filesystem::path& path, int rank);

}  // namespace kerf::inline capture::trace
