// writeOut: calls that are programs over ATen ops become those ops, so that they are lowered as what they are.
//
//     linear = torch._C._nn.linear(x, w, b)      →      t = aten.t(w); linear = aten.addmm(b, x, t)
#pragma once

#include "engine/ir/graph_module.h"
#include "engine/support/result.h"

namespace kerf::inline lower {

/// Functions and methods as Dynamo's graphs name them, and ops that are programs without a lowering; then what
/// writeLoops() and writeResults() find. Nodes whose program depends on data stay. Metas must be set; in the scope of a
/// ShapeEnv, if the graph has symbols.
Result<std::shared_ptr<const GraphModule>> writeOut(std::shared_ptr<const GraphModule> module);

}  // namespace kerf::inline lower
