// What a capture itself says of where nodes came from: Inductor's provenance maps between its pre-grad graph and the
// graphs after the post-grad passes.
#pragma once

#include "engine/capture/common/capture.h"
#include "engine/diff/recorded_origins.h"

namespace kerf::inline compilation {

/// Of two graphs of one compilation, the first before AOTAutograd, the second after the post-grad passes; empty where
/// they are not, or nothing was recorded.
RecordedOrigins recordedBetween(const Capture& a, std::size_t before, const Capture& b, std::size_t after);

}  // namespace kerf::inline compilation
