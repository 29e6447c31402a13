// Addmm fusion: a product and the sum that alone reads it are one call.
//
//     p = mm(a, b); y = add(p, c)      →      y = addmm(c, a, b)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// mm (to addmm) where the other term is a tensor of the product's dtype that can be expanded to its shape. On the
/// devices that unfuse_bias_add_to_pointwise names, a sum that can be fused with what reads it stays
/// (torch._inductor's addmm and should_prefer_unfused_addmm). With `batches` bmm becomes baddbmm in the
/// same way, which Inductor does not do.
Pass addmmFusionPass();

}  // namespace kerf::inline passes
