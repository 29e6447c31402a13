// Common subexpression elimination by the printed form of each call, in execution order.
#include "engine/passes/cse.h"

#include <string>
#include <unordered_map>

#include "engine/ir/printer.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

/// Arguments print exactly (floats by shortest round-trip text), so equal text means an equal call.
std::string callKey(const Graph& graph, const Node& node) {
  std::string key = node.target();
  for (const Argument& argument : node.args()) {
    key += '\x1f';
    key += printArgument(graph, argument, ArgumentStyle::GraphText);
  }
  for (const auto& [name, argument] : node.kwargs())
    key += '\x1e' + name + '=' + printArgument(graph, argument, ArgumentStyle::GraphText);
  return key;
}

/// Fresh uninitialised memory is not a value, and a lone constant is cheaper made twice than kept alive.
bool isCreation(const Node& node) { return node.inputs().empty(); }

bool mergeable(const Node& node, const AliasGroups& aliases) {
  if (!isPureCall(node) || isCreation(node)) return false;
  return !has(opOf(node)->traits, OpTrait::DataDependent) && !aliases.touchesMutation(node);
}

Result<void> runCse(GraphModule& module, const PassContext&) {
  Graph& graph = module.graph;
  AliasGroups aliases(graph);
  std::unordered_map<std::string, NodeId> seen;
  std::vector<NodeId> merged;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!mergeable(node, aliases)) continue;
    const auto [entry, isNew] = seen.try_emplace(callKey(graph, node), id);
    const NodeId first = entry->second;
    if (isNew || !(graph.node(first).meta().value == node.meta().value)) continue;
    if (isReturned(graph, id) && isReturned(graph, first)) continue;
    const bool ownsMemory = !mayGiveView(node);  // equal views look at the same memory already
    if (ownsMemory && aliases.returned(id) && aliases.returned(first)) continue;
    graph.replaceAllUsesWith(id, first);
    mergeProvenance(graph, graph.node(id), first);
    merged.push_back(id);
    aliases.unite(id, first);  // a third equal call must see that the first is returned now
  }
  for (NodeId id : merged) KERF_CHECK(graph.eraseNode(id));
  return {};
}

}  // namespace

Pass csePass() {
  return {.name = "cse", .stage = PassStage::PostGrad, .description = "Computes equal calls once.", .run = runCse};
}

}  // namespace kerf::inline passes
