#include "engine/passes/post_grad/dying_memory.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"

namespace kerf::inline passes {

namespace {

/// expand and its like: several elements at one place.
bool overlapsItself(const Node& node) {
  const TensorMeta* meta = node.meta().value.tensor();
  const auto sizes = meta ? meta->concreteSizes() : std::nullopt;
  const auto strides = meta ? meta->concreteStrides() : std::nullopt;
  if (!sizes || !strides || sizes->size() != strides->size()) return true;
  for (std::size_t i = 0; i < sizes->size(); ++i)
    if ((*strides)[i] == 0 && (*sizes)[i] > 1) return true;
  return false;
}

}  // namespace

DyingMemory::DyingMemory(const Graph& graph) : m_graph(graph), m_aliases(graph) {
  std::size_t position = 0;
  for (const NodeId id : graph.order()) {
    if (id.index >= m_position.size()) m_position.resize(id.index + 1);
    m_position[id.index] = position++;
  }
}

bool DyingMemory::isGiven(NodeId operand) const {
  return std::ranges::any_of(m_graph.order(), [&](NodeId other) {
    const Opcode op = m_graph.node(other).op();
    return (op == Opcode::Placeholder || op == Opcode::GetAttr) && m_aliases.together(other, operand);
  });
}

bool DyingMemory::isUsedLater(NodeId call, NodeId operand, NodeId except) const {
  for (const NodeId other : m_graph.order()) {
    if (!m_aliases.together(other, operand)) continue;
    for (const NodeId user : m_graph.node(other).users())
      if (user != except && m_position[user.index] > m_position[call.index]) return true;
  }
  return false;
}

NodeId DyingMemory::copyBack(NodeId call, NodeId operand) const {
  for (const NodeId user : m_graph.node(call).users()) {
    const Node& node = m_graph.node(user);
    if (node.isCall("aten.copy_.default"_op) && node.args().size() >= 2 && node.args()[0] == Argument(operand) &&
        node.args()[1] == Argument(call) && node.users().empty())
      return user;
  }
  return {};
}

bool DyingMemory::mayBeWritten(NodeId call, NodeId operand) const {
  if (overlapsItself(m_graph.node(operand))) return false;
  int shared = 0;  // arguments; one node may be several
  const auto count = [&](NodeId input) { shared += m_aliases.together(input, operand); };
  for (const Argument& argument : m_graph.node(call).args()) forEachNode(argument, count);
  for (const auto& [name, argument] : m_graph.node(call).kwargs()) forEachNode(argument, count);
  if (shared != 1) return false;
  if (!isGiven(operand)) return !isUsedLater(call, operand, {});
  const NodeId back = copyBack(call, operand);
  return back.valid() && !isReturned(m_graph, call) && !isUsedLater(call, operand, back);
}

}  // namespace kerf::inline passes
