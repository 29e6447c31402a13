// The part of `kerf compare` that --emulate adds: what of the differences the rounding of fused kernels explains.
#pragma once

#include "app/cli/context.h"

namespace kerf::cli {

/// Adds "emulation" to the object of a comparison and "emulated" to each of its outputs; nothing without --emulate.
void addFusionJson(Json& object, const Comparison& comparison);
void printFusion(const Comparison& comparison);

}  // namespace kerf::cli
