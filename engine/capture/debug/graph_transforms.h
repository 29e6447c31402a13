// INDUCTOR_LOG_URL_FOR_GRAPH_XFORM folders: input and output graph of every pass.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

bool isGraphTransformDirectory(const std::filesystem::path& directory);
Result<Capture> importGraphTransforms(const std::filesystem::path& directory, const ImportLimits& limits,
                                      const ImportProgress& progress);

}  // namespace kerf::inline capture
