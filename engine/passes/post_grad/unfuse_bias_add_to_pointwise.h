// Addmm unfusing: a bias that can be added in the kernel of what follows is no part of the product.
//
//     a = addmm(b, x, w); y = gelu(a)      →      p = mm(x, w); a = add(b, p); y = gelu(a)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Where all users of an addmm or baddbmm are pointwise (torch._inductor's unfuse_bias_add_to_pointwise, which knows
/// addmm alone). On CUDA by default, as there: on a CPU the product adds its bias for nothing.
Pass unfuseBiasAddToPointwisePass();

}  // namespace kerf::inline passes
