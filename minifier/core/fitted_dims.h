// fitDims(): arguments that name dimensions, brought into the ranks that operands have after an edit.
#pragma once

#include "engine/ir/graph_module.h"

namespace kerf::inline minifier::inline core {

/// Where a call's shape rule refuses because its operand has other dimensions than before, the numbers that name them
/// become ones that exist: a permute that of the operand as it is, a view that of all elements, `dim` the first.
/// False if nothing was to be done, or a call still refuses. Leaves metas unset that it computed anew.
///
///     x: f32[4, 4]; permute(x, [0, 2, 1, 3])      →      permute(x, [0, 1])
bool fitDims(GraphModule& module);

}  // namespace kerf::inline minifier::inline core
