// The recorded modules of several ranks: parallel styles, loss_parallel, fully_shard, sharded convolutions, trained for
// one step on simulated ranks.
#pragma once

#include "engine/distributed/recorded/reading.h"
#include "engine/distributed/recorded/report.h"

namespace kerf::inline distributed::inline recorded {

/// One line of modules.jsonl.
Result<void> checkModuleCase(const Json& line, const SavedTensors& tensors, RanksReport& report);

}  // namespace kerf::inline distributed::inline recorded
