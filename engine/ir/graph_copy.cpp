#include "engine/ir/graph_copy.h"

namespace kerf::inline ir {

NodeId copyNode(Graph& graph, const Node& source, const std::function<Argument(NodeId)>& map, CopyName name) {
  ArgumentList args;
  for (const Argument& argument : source.args()) args.push_back(mapNodes(argument, map));
  KeywordArguments kwargs;
  for (const auto& [key, value] : source.kwargs()) kwargs.emplace_back(key, mapNodes(value, map));
  const auto create = name == CopyName::Fx ? &Graph::createNode : &Graph::createNamed;
  const NodeId copy = (graph.*create)(source.op(), source.target(), std::move(args), std::move(kwargs), source.name());
  graph.setMeta(copy, source.meta());
  return copy;
}

Argument copyGraph(Graph& graph, const Graph& source, NodeArguments& map) {
  const auto mapped = [&](NodeId id) { return map.at(id); };
  for (const NodeId id : source.order()) {
    const Node& node = source.node(id);
    if (map.contains(id)) continue;
    if (node.op() == Opcode::Output) return node.args().empty() ? Argument() : mapNodes(node.args().front(), mapped);
    map[id] = copyNode(graph, node, mapped);
  }
  return {};
}

}  // namespace kerf::inline ir
