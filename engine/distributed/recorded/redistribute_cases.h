// The recorded redistributions, conversions and random draws of distributed tensors, run again on simulated ranks.
#pragma once

#include "engine/distributed/recorded/reading.h"
#include "engine/distributed/recorded/report.h"

namespace kerf::inline distributed::inline recorded {

/// One line of redistribute.jsonl.
Result<void> checkRedistributeCase(const Json& line, const SavedTensors& tensors, RanksReport& report);
/// One line of random.jsonl.
Result<void> checkRandomCase(const Json& line, const SavedTensors& tensors, RanksReport& report);

}  // namespace kerf::inline distributed::inline recorded
