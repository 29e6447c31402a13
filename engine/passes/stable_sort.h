// Stable sort: every node after its inputs, otherwise in the order that was there.
//
//     b = relu(a); a = exp(x)      →      a = exp(x); b = relu(a)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Kerf's own passes write calls where their inputs stand above, so that this changes nothing after them; it is for
/// graphs that a user's pass left in disorder (torch._inductor's stable_topological_sort). One for each stage.
Pass jointSortPass();
Pass postGradSortPass();

}  // namespace kerf::inline passes
