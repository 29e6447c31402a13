// Constant folding: pure calls whose inputs are all known now are computed now.
//
//     i = arange(4); f = mul(i, 2); y = add(x, f)      →      f = get_attr[_frozen_param0]; y = add(x, f)
//     o = ones([4]); f = mul(o, 2); y = add(x, f)      →      f = full([4], 2.0); y = add(x, f)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Results of at most `max_bytes` become attributes; uniform ones become aten.full, which code generation does better.
/// A constant that is created by one call already stays, as do random ops and everything that touches mutated memory.
Pass constantFoldingPass();

}  // namespace kerf::inline passes
