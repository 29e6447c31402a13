// Instruments: calls that Kerf itself puts into a graph, planted faults for example. Users are shown the node that such
// a call belongs to.
#pragma once

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

bool isInstrument(const Node& node);

/// `id`, or for an instrument the node whose result it takes, as its last argument; invalid for one that takes none.
NodeId shownNode(const Graph& graph, NodeId id);
/// The shown nodes of `ids`, each once, in order.
std::vector<NodeId> shownNodes(const Graph& graph, const std::vector<NodeId>& ids);

}  // namespace kerf::inline ops
