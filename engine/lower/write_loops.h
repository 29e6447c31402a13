// writeLoops: calls that no loop computes become calls that loops compute. Exported programs hold norms and softmaxes
// whole.
//
//     norm = native_layer_norm(x, [8], w, b, 1e-05)      →      var_mean(x), add, rsqrt, sub, mul, mul, add
#pragma once

#include "engine/ir/graph_module.h"
#include "engine/support/result.h"

namespace kerf::inline lower {

/// Whether the call is a norm, a softmax or another op of the table here, which PyTorch's decompositions for Inductor,
/// or the op's own, write as others, and writes nothing. A reshape may be a copy.
bool mayBecomeLoops(const Node& node);

/// Calls stay whose parts are not all loops and views, have another dtype or layout or take whole numbers, and those of
/// 16-bit floats whose kernels do not compute in float32 and round once. Metas and scope as for writeOut().
Result<void> writeLoops(GraphModule& module);

}  // namespace kerf::inline lower
