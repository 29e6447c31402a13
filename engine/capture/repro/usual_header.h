// The lines above the model as PyTorch 2.11 writes them.
#pragma once

#include <string>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// With no environment and no configuration.
std::string usualHeader();

/// The usual header with the environment, configuration and version comments that `told` has, and nothing else of it:
/// for a graph of the same process whose own text has none (another stage in the same log). Lines that an export may
/// not have are left out. No lines at all where `told` has none of these.
ReproEnvelope environmentOf(const ReproEnvelope& told);

}  // namespace kerf::inline capture
