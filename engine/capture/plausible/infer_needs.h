// inferNeeds: what each placeholder of a graph must be, read off its uses, through views, conversions, simple
// arithmetic and nested graphs. Private to engine/capture.
#pragma once

#include <vector>

#include "engine/capture/plausible/list_places.h"
#include "engine/capture/plausible/value_need.h"
#include "engine/ir/graph_module.h"

namespace kerf::inline capture {

/// Of a placeholder, or of an attribute's node (get_attr). Sizes are those of the nodes' metadata: a use whose sizes are
/// unknown asks for zero where it indexes, and for nothing elsewhere.
ValueNeed needOfNode(const GraphModule& module, NodeId node);
/// The same for several of one graph, which is not changed in between; `lists` is kept from one to the next.
ValueNeed needOfNode(const GraphModule& module, NodeId node, ListPlaces& lists);

}  // namespace kerf::inline capture
