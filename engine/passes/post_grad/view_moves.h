// View moves: tensors are put together first and viewed once, not viewed one by one.
//
//     c = cat([view(a, [2, 2, 3]), view(b, [4, 2, 3])])      →      c = view(cat([a, b]), [6, 2, 3])    (a: f32[2, 6])
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Along the first dimension, of views that leave its rows whole, each read by the cat alone (torch._inductor's
/// move_view_after_cat). Off by default, as there.
Pass viewMovesPass();

}  // namespace kerf::inline passes
