// torch.export archives (formats B.4).
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

bool looksLikePt2(std::string_view head);
Result<Capture> importPt2(const std::filesystem::path& path, const ImportLimits& limits,
                          const ImportProgress& progress);

}  // namespace kerf::inline capture
