// importReproText: whatever holds a repro: one file, several after another, an issue with code blocks around them.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// A single whole repro is read as importRepro does. Else every repro of the text becomes a graph with its inputs and
/// its own envelope, and what else looks like a graph one with inputs from annotations; a repro that cannot be read
/// whole is one of those, which the notes say. The error of importRepro where there is no graph at all.
Result<Capture> importReproText(std::string_view text, const std::filesystem::path& path, const ImportLimits& limits);

}  // namespace kerf::inline capture
