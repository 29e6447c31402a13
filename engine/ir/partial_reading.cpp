#include "engine/ir/partial_reading.h"

#include <algorithm>

namespace kerf::inline ir {

Result<NodeId> inventPlaceholder(Graph& graph, std::string_view name, PartialReading& partial, int line) {
  if (partial.inputs.size() >= mostInventedInputs)
    return fail(Error{ErrorCode::TooLarge, "too many names are not defined", {}, line, {}, {}});
  const auto order = graph.order();
  const auto first = std::ranges::find_if(order, [&](NodeId id) { return graph.node(id).op() != Opcode::Placeholder; });
  if (first != order.end()) graph.insertBefore(*first);
  const NodeId made = graph.createNamed(Opcode::Placeholder, name, {}, {}, name);
  graph.insertAtEnd();
  partial.inputs.emplace_back(name);
  return made;
}

void returnUnused(Graph& graph, int endLine, PartialReading& partial, const std::set<std::string>& freed) {
  std::vector<NodeId> unused, kept;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op() == Opcode::Placeholder || node.op() == Opcode::GetAttr || !node.users().empty()) continue;
    unused.push_back(id);
    if (!freed.contains(node.name())) kept.push_back(id);
  }
  if (unused.empty()) return;
  ListArgument returned{{}, true};
  for (const NodeId id : kept.empty() ? unused : kept) {
    returned.items.emplace_back(id);
    partial.outputs.push_back(graph.node(id).name());
  }
  partial.endLine = endLine;
  graph.output(Argument(std::move(returned)));
}

}  // namespace kerf::inline ir
