// The "cuda" backend: fused kernels as CUDA C++ through NVRTC, matrix products by cuBLAS. What the machine lacks is
// said when it is needed: code is made where there is NVRTC, and runs where there is a device.
#pragma once

#include "engine/backend/backend.h"

namespace kerf::inline backend {

const Backend& cudaBackend();

}  // namespace kerf::inline backend
