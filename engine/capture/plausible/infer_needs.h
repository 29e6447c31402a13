// inferNeeds: what each placeholder of a graph must be, read off its uses, through views, conversions, simple
// arithmetic and nested graphs. Private to engine/capture.
#pragma once

#include <vector>

#include "engine/capture/plausible/value_need.h"
#include "engine/ir/graph_module.h"

namespace kerf::inline capture {

/// Sizes are those of the nodes' metadata: a use whose sizes are unknown asks for zero where it indexes, and for
/// nothing elsewhere.
ValueNeed needOfPlaceholder(const GraphModule& module, NodeId placeholder);
/// The same of an attribute's node (get_attr).
ValueNeed needOfNode(const GraphModule& module, NodeId node);

}  // namespace kerf::inline capture
