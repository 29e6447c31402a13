// The recorded graphs of several ranks, run again with collectives that meet.
#pragma once

#include "engine/distributed/recorded/reading.h"
#include "engine/distributed/recorded/report.h"

namespace kerf::inline distributed::inline recorded {

/// One line of graphs.jsonl: every execution that was recorded, of all ranks together.
Result<void> checkGraphCase(const Json& line, const SavedTensors& tensors, RanksReport& report);

}  // namespace kerf::inline distributed::inline recorded
