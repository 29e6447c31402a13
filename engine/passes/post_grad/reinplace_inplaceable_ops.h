// Reinplacing: an op whose operand dies writes into it.
//
//     z = full([9], 0); y = index_put(z, [i], v)      →      z = full([9], 0); y = index_put_(z, [i], v)
//     y = as_strided_scatter(z, v, [4], [2], 0)       →      w = as_strided(z, [4], [2], 0); copy_(w, v); y = z
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// index_put, and the scatters of views: as_strided_scatter and diagonal_scatter always, slice_scatter and
/// select_scatter into inputs whose result the graph copies back (torch._inductor's reinplace_inplaceable_ops). A copy_
/// of a result onto itself goes. Off by default: a write keeps Kerf's kernels from being fused.
Pass reinplaceInplaceableOpsPass();

}  // namespace kerf::inline passes
