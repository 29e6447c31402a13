#include "engine/passes/forwarding.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"

namespace kerf::inline passes {

namespace {

/// Ops that look at memory by its own offset and extent, not by what their operand says of it: `source` with the same
/// sizes and strides may begin elsewhere in its storage.
constexpr std::string_view storageReaders[] = {
    "aten::as_strided",      "aten::as_strided_",          "aten::as_strided_copy", "aten::as_strided_scatter",
    "aten::view_as_complex", "aten::view_as_complex_copy", "aten::_reshape_alias",  "aten::_reshape_alias_copy",
};

bool readsStorage(const Node& node) {
  const OpInfo* op = opOf(node);
  if (op == nullptr) return false;
  if (op->schema.qualifiedName() == "aten.view.dtype") return true;
  return std::ranges::find(storageReaders, std::string_view(op->schema.name)) != std::end(storageReaders);
}

}  // namespace

bool sameTensorMeta(const Node& a, const Node& b) {
  const TensorMeta* x = a.meta().value.tensor();
  const TensorMeta* y = b.meta().value.tensor();
  if (!x || !y || x->dtype != y->dtype || x->sizes != y->sizes || x->device != y->device) return false;
  if (x->strides == y->strides) return true;
  // an annotation without strides counts as contiguous
  const bool lacksStrides = x->strides.empty() || y->strides.empty();
  return lacksStrides && fixedSizes(*x) && x->concreteStrides() == y->concreteStrides();
}

Forwarding::Forwarding(const Graph& graph) : m_graph(graph), m_aliases(graph) {
  for (const NodeId id : graph.order())
    if (readsStorage(graph.node(id))) m_storageReaders.push_back(id);
}

bool Forwarding::allows(const Node& node, NodeId source) const {
  return sameTensorMeta(m_graph.node(source), node) && !wouldAliasOutput(node, source) && !isWritten(node, source) &&
         !lendsItsStorage(node);
}

/// Writes that are over when the call is made are in what it gives and in its operand alike; what it gives of something
/// else may be older than they are.
bool Forwarding::isWritten(const Node& node, NodeId source) const {
  const std::vector<NodeId> inputs = node.inputs();
  if (std::ranges::find(inputs, source) == inputs.end())
    return m_aliases.touchesMutation(node) || m_aliases.mutated(source);
  if (m_aliases.writtenFrom(node.id(), node) || m_aliases.writtenFrom(source, node)) return true;
  return std::ranges::any_of(inputs, [&](NodeId input) { return m_aliases.writtenFrom(input, node); });
}

void Forwarding::forward(Graph& graph, NodeId node, NodeId source) {
  graph.replaceAllUsesWith(node, source);
  m_aliases.unite(node, source);
}

/// Whether memory that `id` looks at comes from outside of the graph.
bool Forwarding::isGiven(NodeId id) const {
  return std::ranges::any_of(m_graph.order(), [&](NodeId other) {
    const Opcode op = m_graph.node(other).op();
    return (op == Opcode::Placeholder || op == Opcode::GetAttr) && m_aliases.together(other, id);
  });
}

bool Forwarding::wouldAliasOutput(const Node& node, NodeId source) const {
  if (isReturned(m_graph, node.id()) &&
      (m_graph.node(source).op() != Opcode::CallFunction || isReturned(m_graph, source)))
    return true;
  if (mayGiveView(node) || !m_aliases.returned(node.id())) return false;
  return m_aliases.returned(source) || isGiven(source);
}

/// Fresh memory begins at its offset 0 and ends with its last element.
bool Forwarding::lendsItsStorage(const Node& node) const {
  if (mayGiveView(node)) return false;
  return std::ranges::any_of(m_storageReaders, [&](NodeId reader) {
    if (!m_graph.contains(reader)) return false;
    const auto& inputs = m_graph.node(reader).inputs();
    return std::ranges::any_of(inputs, [&](NodeId input) { return m_aliases.together(input, node.id()); });
  });
}

bool forwardAll(Graph& graph, const StandIn& standIn) {
  Forwarding forwarding(graph);
  bool changed = false;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) {
    const auto source = standIn(id, forwarding);
    if (!source || !forwarding.allows(graph.node(id), *source)) continue;
    forwarding.forward(graph, id, *source);
    changed = true;
  }
  return changed;
}

}  // namespace kerf::inline passes
