// How large a graph is once the nested graphs that it calls are written out where they are called.
#pragma once

#include "engine/ir/graph_module.h"

namespace kerf::inline autograd {

/// TooLarge where nested graphs are called so often that they would be more than 2^18 nodes. Branches of
/// cond count, which are traced at each call; graphs of loops, which are taken over as they are, do not, nor do the nodes of
/// the graph itself.
Result<void> checkWrittenSize(const GraphModule& module);

}  // namespace kerf::inline autograd
