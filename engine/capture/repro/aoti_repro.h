// Repros of AOTInductor (torch._dynamo.repro.aoti): a script that loads its graph from a .pt2 beside it.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

bool looksLikeAotiRepro(std::string_view text);

/// Opens the archive that the script loads: at the path it names, else of that name beside the script or in its folder
/// "checkpoints". NotFound that says which archive it is where none of them is there.
Result<Capture> importAotiRepro(std::string_view text, const std::filesystem::path& path, const ImportLimits& limits);

}  // namespace kerf::inline capture
