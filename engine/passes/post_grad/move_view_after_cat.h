// View moves: tensors are put together first and viewed once, not viewed one by one; of two views around pointwise
// calls one is left, above them.
//
//     c = cat([view(a, [2, 2, 3]), view(b, [4, 2, 3])])      →      c = view(cat([a, b]), [6, 2, 3])    (a: f32[2, 6])
//     v = view(relu(view(x, [6])), [3, 2])                               →      v = relu(view(x, [3, 2]))
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Below a cat along the first dimension: views that leave its rows whole, each read by the cat alone
/// (torch._inductor's move_view_after_cat). Off by default, as there. Above calls that are read by one call or view
/// each and read no other tensor, where the view then meets another (`above`).
Pass moveViewAfterCatPass();

}  // namespace kerf::inline passes
