// Bytes and strides of the views that load_args makes.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Bytes that a view needs, offset included. TooLarge beyond 64 bits or the limit, BadInput for negative numbers.
Result<std::int64_t> viewBytes(const GraphInput& input, const ImportLimits& limits);

/// Texts of the contiguous strides of sizes of which some are symbolic: "(4, s33)" has "(s33, 1)".
std::vector<std::string> contiguousTexts(const Sizes& sizes, const std::vector<std::string>& texts);

}  // namespace kerf::inline capture
