// The recorded calls on distributed tensors, run again on simulated ranks.
#pragma once

#include "engine/distributed/recorded/reading.h"
#include "engine/distributed/recorded/report.h"

namespace kerf::inline distributed::inline recorded {

/// One line of ops.jsonl.
Result<void> checkOpCase(const Json& line, const SavedTensors& tensors, RanksReport& report);

}  // namespace kerf::inline distributed::inline recorded
