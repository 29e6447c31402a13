// exportedCandidate(): a candidate in the clothes of the capture that it came from, as programs outside of Kerf get it.
#pragma once

#include "engine/capture/common/capture.h"
#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline oracle {

/// A capture of this one graph with `like`'s environment, configuration and runner; what would make PyTorch dump repros of
/// its own is taken out. BadInput when the inputs do not fit the placeholders.
Result<Capture> exportedCandidate(const Candidate& candidate, const Capture& like, std::size_t graphIndex);

}  // namespace kerf::inline minifier::inline oracle
