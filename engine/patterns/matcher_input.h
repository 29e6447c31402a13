// matcherInput: a graph as patterns are matched against it: shapes known, calls that change nothing skipped, as
// Inductor's joint-graph passes leave it before they match.
#pragma once

#include "engine/ir/graph_module.h"
#include "engine/support/result.h"

namespace kerf::inline patterns {

/// Names of the nodes that are left stay. Shapes that are recorded stay, others are inferred where they can be.
Result<GraphModule> matcherInput(const GraphModule& module);

}  // namespace kerf::inline patterns
