// Common subexpression elimination: equal calls on equal arguments are computed once.
//
//     a = exp(x); b = exp(x); c = add(a, b)      →      a = exp(x); c = add(a, a)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Merges pure calls only: random ops, mutation, whatever reads or aliases mutated memory, and data-dependent shapes
/// stay. Two nodes that are both returned, as they are or as views, stay two tensors: a caller that writes to one must
/// not see it in the other.
Pass csePass();

}  // namespace kerf::inline passes
