// TORCH_TRACE (formats B.1): one log, gzip-compressed or not, or a folder of logs (one per rank).
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

bool looksLikeTorchTrace(std::string_view head);
bool isTorchTraceDirectory(const std::filesystem::path& directory);
Result<Capture> importTorchTrace(const std::filesystem::path& path, const ImportLimits& limits,
                                 const ImportProgress& progress);

}  // namespace kerf::inline capture
