// nameStorages(): content-store names for storages that lie inside another file (a .pt2's weights).
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Gives every storage with a file range and no hash its SHA-1 name, reading the bytes. A graph without such storages
/// is left as it is. NotFound or BadInput when the file is gone or too short.
Result<void> nameStorages(CapturedGraph& graph);
/// Whether nameStorages() has anything to do.
bool hasUnnamedStorages(const CapturedGraph& graph);

}  // namespace kerf::inline capture
