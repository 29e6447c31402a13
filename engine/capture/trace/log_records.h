// Messages of TORCH_LOGS as the records that TORCH_TRACE writes of the same events.
#pragma once

#include "engine/capture/common/origin.h"
#include "engine/capture/trace/log_messages.h"
#include "engine/capture/trace/scanner.h"

namespace kerf::inline capture::trace {

struct LogRecords {
  std::string text;  ///< headers' JSON and payloads with their tabs
  std::vector<RawRecord> records;
};

/// Messages that tell nothing of a compilation give none.
LogRecords logRecords(const std::vector<PrintedMessage>& messages);

/// A record without a payload for a graph that is read elsewhere.
void addGraphRecord(const GraphOrigin& origin, LogRecords& made);

}  // namespace kerf::inline capture::trace
