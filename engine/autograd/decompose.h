// decomposeGraph: a graph traced once more, with ops replaced as one of PyTorch's decomposition tables replaces them.
//
//     silu = aten.silu(x)      →      sigmoid = aten.sigmoid(x); mul = aten.mul(x, sigmoid)
#pragma once

#include "engine/ir/graph_module.h"
#include "engine/ops/core/decomposition_tables.h"

namespace kerf::inline autograd {

/// Of a flat ATen graph (placeholders, get_attr, call_function, output) whose metas are set; nested graphs are
/// decomposed in their places. What becomes of a node keeps its meta and names it as its source; nodes are named in
/// the order in which they are made, placeholders keep their names. Dead nodes are left out. Calls that cannot be
/// traced (opaque ops, sizes that depend on data) stay as they are. Symbols are those of the current ShapeEnv, else of
/// one for this graph. TooLarge where graphs are nested too deeply.
Result<GraphModule> decomposeGraph(const GraphModule& module, DecompositionTable table);

}  // namespace kerf::inline autograd
