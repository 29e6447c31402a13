// Addmm activation: a biased product and the relu or gelu that alone reads it are one call.
//
//     y = relu(addmm(b, x, w))      →      y = _addmm_activation(b, x, w)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline patterns {

/// Post-grad stage, once products and sums are addmm. Off by default, as a loop that a compiler writes of the
/// activation fuses with what reads it.
Pass addmmActivationPass();

}  // namespace kerf::inline patterns
