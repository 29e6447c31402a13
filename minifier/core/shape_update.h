// updateShapes(): metas of an edited graph, computed anew where the edit has changed something.
#pragma once

#include "engine/ir/graph_module.h"

namespace kerf::inline minifier::inline core {

/// Calls downstream of what differs from `before` (nodes of the same id are the same node) get the metas that the shape
/// rules give. An op without a rule keeps its meta where its operands' metas are what they were. False where a rule
/// refuses, or a meta that was known cannot be told any more.
///
///     x: [4] → [1];  a = mine(y); b = relu(x)      →      a as it was, b: [1]
bool updateShapes(GraphModule& module, const GraphModule& before);

}  // namespace kerf::inline minifier::inline core
