// View cleanup: chains of views become one view, or none.
//
//     v = view(view(x, [6]), [3, 2]); p = permute(permute(y, [1, 0]), [1, 0])      →      v = view(x, [3, 2]); p = y
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// view of view, permute of permute, expand of expand; unsqueeze then squeeze of the same dimension. A chain is only
/// shortened where the short one is a view too, with the same strides (torch._inductor's pointless_view,
/// pointless_view_pair, pointless_permute_pair).
Pass pointlessViewPass();

}  // namespace kerf::inline passes
