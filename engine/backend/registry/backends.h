// The table of backends: a new one is a folder beside this one and a line in it.
#pragma once

#include "engine/backend/backend.h"

namespace kerf::inline backend {

/// The backends that need nothing of a machine; the first is the default.
std::span<const Backend* const> backends();
/// BadUsage listing the backends for an unknown name. "cuda" too: Environment when it compiles where there is no
/// NVRTC, and when it runs where there is no device.
Result<const Backend*> findBackend(std::string_view name);

}  // namespace kerf::inline backend
