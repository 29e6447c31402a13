// Scatter to where: one number scattered into a uniform tensor, one place a row, is a comparison of positions.
//
//     f = full([8, 100], 0); s = scatter(f, 1, target, -1)
//         →      s = where(eq(expand(target), view(iota(100), [1, 100])), -1, 0)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// The gradient of a cross entropy begins so; as a comparison it fuses with what reads it (torch._inductor's
/// scatter_upon_const_tensor). The index must have one place along `dim` and all of the other dimensions.
Pass scatterUponConstTensorPass();

}  // namespace kerf::inline passes
