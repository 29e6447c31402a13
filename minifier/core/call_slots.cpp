#include "minifier/core/call_slots.h"

#include <algorithm>

#include "minifier/core/call_units.h"

namespace kerf::inline minifier::inline core {

namespace {

const SchemaArgument* positional(const OpInfo* op, std::size_t position) {
  return op && position < op->schema.arguments.size() ? &op->schema.arguments[position] : nullptr;
}

const SchemaArgument* named(const OpInfo* op, const std::string& name) {
  if (!op) return nullptr;
  const auto found = std::ranges::find(op->schema.arguments, name, &SchemaArgument::name);
  return found == op->schema.arguments.end() ? nullptr : &*found;
}

}  // namespace

void forEachSlot(const Graph& graph,
                 const std::function<void(const CallSlot&, const Argument&, const SchemaArgument*)>& visit) {
  for (const NodeId call : callNodes(graph)) {
    const Node& node = graph.node(call);
    const OpInfo* op = findOp(node);
    for (std::size_t i = 0; i < node.args().size(); ++i) visit({call, i, {}}, node.args()[i], positional(op, i));
    for (const auto& [name, argument] : node.kwargs()) visit({call, 0, name}, argument, named(op, name));
  }
}

void setArgument(Graph& graph, const CallSlot& slot, const Argument& value) {
  if (slot.keyword.empty()) {
    ArgumentList args = graph.node(slot.call).args();
    args[slot.position] = value;
    return graph.setArgs(slot.call, std::move(args));
  }
  KeywordArguments kwargs = graph.node(slot.call).kwargs();
  for (auto& [name, argument] : kwargs)
    if (name == slot.keyword) argument = value;
  graph.setKwargs(slot.call, std::move(kwargs));
}

}  // namespace kerf::inline minifier::inline core
