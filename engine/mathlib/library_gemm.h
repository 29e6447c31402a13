// Products of matrices by a library of choice, which Kerf's own are measured beside (`kerf bench --products`).
#pragma once

#include <string>

#include "engine/mathlib/panel_gemm.h"
#include "engine/support/result.h"

namespace kerf::inline mathlib {

enum class GemmLibrary { OpenBlas, OneDnn };

/// Name and version, and which processor's kernels it takes: "OpenBLAS 0.3.21, SkylakeX".
std::string describeLibrary(GemmLibrary library);

/// c = alpha * a @ b + beta * c in one call of the library, on mathThreads() threads of its own. TooLarge beyond BLAS.
Result<void> libraryGemm(GemmLibrary library, const PanelProduct<float>& product, const float* a, const float* b,
                         float* c);

}  // namespace kerf::inline mathlib
