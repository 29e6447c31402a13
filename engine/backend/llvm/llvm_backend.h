// The LLVM backend: fused loop kernels in machine code, library kernels for matrix products and convolutions, reference
// kernels for the rest.
#pragma once

#include "engine/backend/backend.h"

namespace kerf::inline backend {

const Backend& llvmBackend();

}  // namespace kerf::inline backend
