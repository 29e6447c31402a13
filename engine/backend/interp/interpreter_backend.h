// The interpreter as a backend: every node through its reference kernel.
#pragma once

#include "engine/backend/backend.h"

namespace kerf::inline backend {

const Backend& interpreterBackend();

}  // namespace kerf::inline backend
