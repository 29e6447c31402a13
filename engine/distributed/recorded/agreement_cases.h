// The recorded compilations of ranks whose inputs differ: the states that they told each other, agreed on by simulated
// ranks, against the graphs that they compiled then.
#pragma once

#include "engine/distributed/recorded/reading.h"
#include "engine/distributed/recorded/report.h"

namespace kerf::inline distributed::inline recorded {

/// One line of collective_compile.jsonl.
Result<void> checkAgreementCase(const Json& line, const SavedTensors& tensors, RanksReport& report);

}  // namespace kerf::inline distributed::inline recorded
