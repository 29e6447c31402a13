// Every capture below a folder.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Everything below a folder, of several kinds: each log folder, debug folder, archive and repro once, in the order of
/// their names. What cannot be opened is named in the notes of the first capture; an error if nothing can. A file gives
/// one capture.
Result<std::vector<Capture>> importAll(const std::filesystem::path& path, const ImportLimits& limits = {},
                                       const ImportProgress& progress = {});

}  // namespace kerf::inline capture
