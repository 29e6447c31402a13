// How large a graph is once the nested graphs that it calls are written out where they are called.
#pragma once

#include "engine/ir/graph_module.h"

namespace kerf::inline autograd {

/// TooLarge where nested graphs are called so often that they would be more than 2^18 nodes. Graphs that stay calls (cond,
/// loops) do not count, nor do the nodes of the graph itself.
Result<void> checkWrittenSize(const GraphModule& module);

}  // namespace kerf::inline autograd
