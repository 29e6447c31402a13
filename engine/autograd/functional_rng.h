// functionalizeRng: random ops as functions of seeds, which become inputs (functorch's functionalize_rng_ops).
//
//     rand = aten.rand([4])   →   philox_rand = rngprims.philox_rand([4], fwd_seed_1, fwd_base_offset_1, None, …)
//                                 rand = philox_rand[0];  add = fwd_base_offset_1 + philox_rand[1]
#pragma once

#include "engine/autograd/aot_graph.h"

namespace kerf::inline autograd {

/// Adds the placeholders fwd_seed_1 and fwd_base_offset_1 and, to a joint graph, bwd_seed_1 and bwd_base_offset_1
/// (int64 scalars on CUDA) behind all others, and replaces `aten.rand`, `aten.rand_like` and `aten.native_dropout` by
/// what they are of a seed and an offset (torch._decomp.decompositions_for_rng). The offset behind the forward part's
/// last draw is an output after the user's, the backward part's the last one. A graph that draws nothing stays as it is.
/// Other random ops keep drawing from the generator, which metadata.notes say. UnsupportedOp naming the node for tensors
/// on a CPU, whose generator has no offsets, as in PyTorch.
Result<void> functionalizeRng(AotGraph& traced);

}  // namespace kerf::inline autograd
