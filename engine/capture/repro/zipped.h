// A repro.py with its storages in one zip.
#pragma once

#include "engine/capture/common/import_source.h"

namespace kerf::inline capture {

/// Storages are read at once: together at most limits.fileBytes.
bool isZippedRepro(const ImportSource& source);
Result<Capture> openZippedRepro(const ImportSource& source, const ImportLimits& limits, const ImportProgress& progress);

}  // namespace kerf::inline capture
