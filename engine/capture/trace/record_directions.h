// Whether a record belongs to the forward or the backward graph: Inductor writes the same kinds for both.
#pragma once

#include "engine/capture/common/details.h"

namespace kerf::inline capture::trace {

/// "forward", "backward", "inference" or "" for each record. By the name where it tells; else by the header of the
/// output code of its Inductor run ("# AOT ID: ['0_backward']"); without one, a run is told by its number: forward is
/// compiled before backward.
std::vector<std::string> recordDirections(const CaptureDetails& details);

}  // namespace kerf::inline capture::trace
