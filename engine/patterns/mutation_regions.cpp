// Barriers by the op's schema, by PyTorch's naming convention for what has no row.
#include "engine/patterns/mutation_regions.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline patterns {

namespace {

/// "copy_", "_set_grad_enabled", "manual_seed", but not "__rshift__".
bool namesWrite(std::string_view target) {
  constexpr std::string_view words[] = {"_set_grad_enabled", "_enter_autocast", "_exit_autocast", "manual_seed"};
  if (std::ranges::any_of(words, [&](std::string_view word) { return target.find(word) != target.npos; })) return true;
  if (target.starts_with("torch.ops."))  // without the overload
    target = target.substr(0, std::ranges::count(target, '.') > 3 ? target.rfind('.') : target.npos);
  return target.ends_with('_') && !target.ends_with("__");
}

}  // namespace

bool isBarrier(const Node& node) {
  if (node.op() == Opcode::CallMethod) return namesWrite(node.target());
  if (node.op() != Opcode::CallFunction) return false;
  const OpInfo* op = findOp(node);
  if (op == nullptr) return namesWrite(node.target());
  return std::ranges::any_of(op->schema.arguments,
                             [](const SchemaArgument& argument) { return argument.alias.ends_with('!'); });
}

MutationRegions::MutationRegions(const Graph& graph) {
  for (const NodeId id : graph.order()) {
    if (isBarrier(graph.node(id))) m_barriers.push_back(id);
    if (id.index >= m_regions.size()) m_regions.resize(id.index + 1, 0);
    m_regions[id.index] = m_barriers.size();
  }
}

void MutationRegions::add(NodeId node, NodeId like) {
  const std::size_t region = of(like);
  if (node.index >= m_regions.size()) m_regions.resize(node.index + 1, 0);
  m_regions[node.index] = region;
}

NodeId MutationRegions::barrierAfter(NodeId node) const {
  const std::size_t region = of(node);
  return region < m_barriers.size() ? m_barriers[region] : NodeId();
}

}  // namespace kerf::inline patterns
