// Fused groups that no cache holds: what they take is the memory's, to be compared with a copy of as many bytes.
#pragma once

#include <vector>

#include "app/bench/compiled_kernels.h"

namespace kerf::bench {

/// "memory/NAME" in float32, and "memory/NAME_bf16" in bfloat16 with as many elements.
const std::vector<KernelBenchCase>& memoryBenchCases();

}  // namespace kerf::bench
