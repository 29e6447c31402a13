// useStockOps: ops that PyTorch registers only when Inductor is imported, rewritten to ATen, so that torch.export.load
// finds every op.
#pragma once

#include "engine/ir/graph_module.h"

namespace kerf::inline capture::pt2 {

/// prims.fma becomes a product and a sum (rounded twice); max pooling with offsets becomes max pooling with indices
/// where nothing uses the offsets. Others stay: a program with them loads after `import
/// torch._inductor.inductor_prims`. What was rewritten, a line for each op.
std::vector<std::string> useStockOps(Graph& graph);

}  // namespace kerf::inline capture::pt2
