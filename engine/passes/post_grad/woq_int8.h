// Products with int8 weights: a matrix product with converted int8 weights, scaled by column, is one call.
//
//     y = mm(x, permute(convert(w, bf16), [1, 0])) * scales      →      y = _weight_int8pack_mm(x, w, scales)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Off by default: the product is not rounded to x's dtype before it is scaled. `w` is int8 [n, k], `scales` [n] in x's
/// dtype (torch._inductor's weight-only quantized patterns).
Pass woqInt8Pass();

}  // namespace kerf::inline passes
