// TORCH_COMPILE_DEBUG folders (formats B.2): the root, one run_*, its torchinductor, or one graph's folder.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

bool isDebugDirectory(const std::filesystem::path& directory);
Result<Capture> importDebugDirectory(const std::filesystem::path& directory, const ImportLimits& limits,
                                     const ImportProgress& progress);

}  // namespace kerf::inline capture
