// withSplitFma(): multiply-adds as a product and a sum.
#pragma once

#include "engine/ir/graph_module.h"

namespace kerf::inline audit {

/// The same graph, in which prims.fma is a product and a sum: nothing is rounded where a graph is run next to its program.
GraphModule withSplitFma(GraphModule graph);

}  // namespace kerf::inline audit
