#include "engine/ops/core/instruments.h"

#include <algorithm>

namespace kerf::inline ops {

bool isInstrument(const Node& node) {
  const OpInfo* op = findOp(node);
  return op && has(op->traits, OpTrait::Instrument);
}

NodeId shownNode(const Graph& graph, NodeId id) {
  while (id.valid() && isInstrument(graph.node(id))) {
    const ArgumentList& args = graph.node(id).args();
    const NodeId* source = args.empty() ? nullptr : args.back().as<NodeId>();
    id = source ? *source : NodeId{};
  }
  return id;
}

std::vector<NodeId> shownNodes(const Graph& graph, const std::vector<NodeId>& ids) {
  std::vector<NodeId> shown;
  for (const NodeId id : ids)
    if (const NodeId node = shownNode(graph, id); node.valid() && std::ranges::find(shown, node) == shown.end())
      shown.push_back(node);
  return shown;
}

}  // namespace kerf::inline ops
