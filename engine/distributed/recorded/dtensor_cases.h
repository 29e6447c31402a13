// The older recording of DTensor: operations with placements and collectives alone (ops.json), and a ConvNeXt with its
// parameters and gradients (convnext.json).
#pragma once

#include <filesystem>

#include "engine/distributed/recorded/reading.h"
#include "engine/distributed/recorded/report.h"

namespace kerf::inline distributed::inline recorded {

/// One operation: inputs are made up, its values are those of whole tensors.
Result<void> checkPlacementCase(const Json& line, RanksReport& report);
/// The ConvNeXt of convnext.json, with its images sharded along the batch and along their width.
Result<void> checkConvNextCase(const Json& recorded, const SavedTensors& tensors, RanksReport& report);

}  // namespace kerf::inline distributed::inline recorded
