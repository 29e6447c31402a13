// No-op removal: calls that return their input unchanged are skipped.
//
//     v = view(x, [2, 3]); m = mul(v, 1); r = relu(m)      →      r = relu(x)         (x already is f32[2, 3])
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// A call goes only if dtype, sizes, strides and device stay and every value does, bit for bit (-0.0 + 0 does not).
/// Nothing that reads or aliases mutated memory goes, and no output becomes an input.
Pass removeNoopOpsPass();
/// The same ahead of the joint passes (Inductor runs remove_noop_ops twice, too).
Pass jointRemoveNoopOpsPass();

}  // namespace kerf::inline passes
