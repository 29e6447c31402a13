// remarkProducts(): what a Triton kernel compares of its constants is not changed by the int32 that they are.
#pragma once

#include "engine/audit/kernels/kernel_model.h"

namespace kerf::inline audit {

/// `M = 32768` is an int32 for the kernel, unless it is declared tl.constexpr, and M * N may wrap to 0.
void remarkProducts(const SyntaxNode& definition, KernelModel& model);

}  // namespace kerf::inline audit
