#include "engine/accuracy/written_memory.h"

#include <algorithm>
#include <numeric>

#include "engine/ops/core/memory_writes.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline accuracy {

WrittenMemory::WrittenMemory(const Graph& graph) {
  std::size_t slots = 0;
  for (const NodeId id : graph.order()) slots = std::max<std::size_t>(slots, id.index + std::size_t{1});
  m_group.resize(slots);
  std::iota(m_group.begin(), m_group.end(), std::size_t{0});
  std::vector<NodeId> written;
  for (const NodeId id : graph.order()) visit(graph.node(id), written);
  m_written.resize(slots);
  for (const NodeId id : written) m_written[group(id.index)] = true;
}

void WrittenMemory::visit(const Node& node, std::vector<NodeId>& written) {
  if (node.op() == Opcode::Placeholder || node.op() == Opcode::GetAttr || node.op() == Opcode::Output) return;
  const OpInfo* op = node.op() == Opcode::CallFunction ? findOp(node) : nullptr;
  if (op == nullptr || node.isCall("operator.getitem"_op)) {  // unknown ops may do anything with what they see
    for (const NodeId input : node.inputs()) join(node.id(), input);
    if (op == nullptr) written.push_back(node.id());
    return;
  }
  for (std::size_t i = 0; i < op->schema.arguments.size(); ++i) {
    const Argument* argument = boundArgument(node, *op, i);
    if (argument == nullptr || (!writesTo(*op, i) && !sharesMemory(*op, i))) continue;
    forEachNode(*argument, [&](NodeId id) {
      join(node.id(), id);
      if (writesTo(*op, i)) written.push_back(id);
    });
  }
}

std::size_t WrittenMemory::group(std::size_t index) const {
  while (m_group[index] != index) index = m_group[index] = m_group[m_group[index]];
  return index;
}

}  // namespace kerf::inline accuracy
