// perform(BitsRequest): which kernels of a compilation can have eager mode's bits.
#pragma once

#include "app/workbench/protocol/bits.h"
#include "app/workbench/workbench.h"

namespace kerf::workbench {

/// Graphs that cannot be read leave their kernels out; a capture without programs of Inductor has none. Errors of the
/// compilation with `own`.
Result<std::vector<KernelBits>> perform(Workbench& bench, const BitsRequest& request, const Job& job);

}  // namespace kerf::workbench
