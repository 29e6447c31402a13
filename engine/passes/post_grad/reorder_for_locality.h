// Locality order: a value is computed right before its first use.
//
//     a = exp(x); b = relu(y); c = add(b, 1); d = mul(a, c)      →      b = …; c = …; a = exp(x); d = mul(a, c)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Shortens how long values live; nothing is moved over a write or a draw of random numbers, nor out of their order
/// (torch._inductor's reorder_for_locality, which it does for inference only). Off by default: Kerf's scheduler chooses
/// an order of its own.
Pass reorderForLocalityPass();

}  // namespace kerf::inline passes
