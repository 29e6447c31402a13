// Copies of nodes in other graphs, or in their own: torch.fx's node_copy and graph_copy, where a copied node may be
// given any argument for one that it reads.
//
//     %relu = relu(%x)      →      %relu_1 = relu(%y)         (x → y)
#pragma once

#include <functional>
#include <unordered_map>

#include "engine/ir/graph.h"

namespace kerf::inline ir {

/// What stands for the nodes of a copied graph: nodes of the other one, or constants.
using NodeArguments = std::unordered_map<NodeId, Argument>;

/// What a copy is called: as FX would call it ("sum" becomes "sum_1"), or the very same where that is free.
enum class CopyName : std::uint8_t { Fx, Same };

/// A copy of `source` at the insertion point of `graph`, its operands replaced by `map`: a free name like its own, all
/// of its metadata.
NodeId copyNode(Graph& graph, const Node& source, const std::function<Argument(NodeId)>& map,
                CopyName name = CopyName::Fx);

/// Copies all nodes of `source` but its output and those that `map` has, and adds them to `map`. Returns what `source`
/// returns, as an argument of `graph`; None where it has no output.
Argument copyGraph(Graph& graph, const Graph& source, NodeArguments& map);

}  // namespace kerf::inline ir
