#include "engine/verification/memory_edges.h"

#include <algorithm>
#include <optional>

#include "engine/ops/core/memory_writes.h"

namespace kerf::inline verification {
namespace {

/// Tensor methods and Python's subscript that look at the memory of what they are called on.
constexpr std::string_view viewNames[] = {"view",    "reshape", "t",       "transpose", "permute", "squeeze",
                                          "expand",  "select",  "narrow",  "unsqueeze", "detach",  "view_as",
                                          "flatten", "unfold",  "movedim", "swapaxes",  "mT",      "T"};

bool isViewName(const Node& node) {
  if (node.op() == Opcode::CallMethod) return std::ranges::find(viewNames, node.target()) != std::end(viewNames);
  return node.target().find("operator.getitem") != std::string::npos;
}

bool writesByName(const Node& node) {
  const std::string& name = node.target();
  if (node.op() == Opcode::CallMethod) return name == "__setitem__" || (name.ends_with("_") && !name.ends_with("__"));
  return name.find("operator.setitem") != std::string::npos;
}

/// The node that stands at schema position `i` of a call.
std::optional<NodeId> operand(const Node& node, const OpInfo& op, std::size_t i) {
  const Argument* argument = boundArgument(node, op, i);
  const NodeId* id = argument != nullptr ? argument->as<NodeId>() : nullptr;
  return id != nullptr ? std::optional(*id) : std::nullopt;
}

std::optional<NodeId> firstOperand(const Node& node) {
  const NodeId* id = node.args().empty() ? nullptr : node.args().front().as<NodeId>();
  return id != nullptr ? std::optional(*id) : std::nullopt;
}

}  // namespace

MemoryEdges::MemoryEdges(const Graph& graph) : m_graph(graph) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    m_position.emplace(id, m_position.size());
    if (const auto first = firstOperand(node); first && isViewName(node)) m_viewOf.emplace(id, *first);
    if (const auto first = firstOperand(node); first && writesByName(node)) {
      m_viewOf.emplace(id, *first);
      m_writers[baseOf(*first)].push_back(id);
    }
    const OpInfo* op = findOp(node);
    if (op == nullptr) continue;
    for (std::size_t i = 0; i < op->schema.arguments.size(); ++i) {
      const auto argument = operand(node, *op, i);
      if (!argument) continue;
      if (sharesMemory(*op, i)) m_viewOf.emplace(id, *argument);
      if (!writesTo(*op, i)) continue;
      m_viewOf.emplace(id, *argument);
      m_writers[baseOf(*argument)].push_back(id);
    }
  }
}

NodeId MemoryEdges::baseOf(NodeId node) const {
  for (auto found = m_viewOf.find(node); found != m_viewOf.end(); found = m_viewOf.find(node)) node = found->second;
  return node;
}

std::vector<NodeId> MemoryEdges::writers(NodeId node) const {
  const auto found = m_writers.find(baseOf(node));
  return found == m_writers.end() ? std::vector<NodeId>() : found->second;
}

std::vector<NodeId> MemoryEdges::dependencies(NodeId node) const {
  std::vector<NodeId> found = m_graph.node(node).inputs();
  if (m_writers.empty()) return found;
  for (const NodeId input : m_graph.node(node).inputs())
    for (const NodeId writer : writers(input))
      if (m_position.at(writer) < m_position.at(node) && std::ranges::find(found, writer) == found.end())
        found.push_back(writer);
  return found;
}

}  // namespace kerf::inline verification
