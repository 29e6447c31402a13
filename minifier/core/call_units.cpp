// Call units: a producer of several values takes its getitems along.
#include "minifier/core/call_units.h"

#include <algorithm>
#include <unordered_map>

#include "engine/ops/core/purity.h"

namespace kerf::inline minifier::inline core {

namespace {

bool takesItem(const Graph& graph, const Node& node) {
  if (!node.isCall("operator.getitem"_op) || node.args().size() != 2) return false;
  const auto* source = node.args()[0].as<NodeId>();
  return source && node.args()[1].as<std::int64_t>() && graph.node(*source).meta().value.list() != nullptr;
}

std::size_t countCalls(const GraphModule& module, int depth) {
  constexpr int maxDepth = 64;
  std::size_t count = 0;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if (!isCallNode(node)) continue;
    ++count;
    for (const NestedGraph& nested : nestedGraphs(module, node))
      if (depth < maxDepth) count += countCalls(*nested.graph, depth + 1);
  }
  return count;
}

}  // namespace

bool isCallNode(const Node& node) {
  return node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod || node.op() == Opcode::CallModule;
}

std::vector<NodeId> callNodes(const Graph& graph) {
  std::vector<NodeId> calls;
  for (const NodeId id : graph.order())
    if (isCallNode(graph.node(id))) calls.push_back(id);
  return calls;
}

bool isEffect(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return isCallNode(node) && node.users().empty() && purityOf(node) == Purity::Impure;
}

std::vector<CallUnit> callUnits(const Graph& graph) {
  std::vector<CallUnit> units;
  std::unordered_map<NodeId, std::size_t> unitOf;
  for (const NodeId id : callNodes(graph)) {
    const Node& node = graph.node(id);
    const auto owner = takesItem(graph, node) ? unitOf.find(*node.args()[0].as<NodeId>()) : unitOf.end();
    if (owner == unitOf.end()) {
      unitOf.emplace(id, units.size());
      units.push_back({id, {}});
    } else {
      units[owner->second].items.push_back(id);
      unitOf.emplace(id, owner->second);
    }
  }
  return units;
}

std::vector<UnitSet> unitUsers(const Graph& graph, const std::vector<CallUnit>& units) {
  std::unordered_map<NodeId, std::size_t> unitOf;
  for (std::size_t i = 0; i < units.size(); ++i) {
    unitOf.emplace(units[i].call, i);
    for (const NodeId item : units[i].items) unitOf.emplace(item, i);
  }
  std::vector<UnitSet> users(units.size());
  for (const auto& [node, unit] : unitOf)
    for (const NodeId user : graph.node(node).users())
      if (const auto found = unitOf.find(user); found != unitOf.end() && found->second != unit)
        users[unit].push_back(found->second);
  for (UnitSet& set : users) {
    std::ranges::sort(set);
    set.erase(std::ranges::unique(set).begin(), set.end());
  }
  return users;
}

std::vector<NestedGraph> nestedGraphs(const GraphModule& module, const Node& call) {
  std::vector<NestedGraph> nested;
  const auto add = [&](const std::string& path) {
    const Submodule* submodule = module.submodule(path);
    if (submodule && submodule->graph) nested.push_back({path, submodule->graph});
  };
  if (call.op() == Opcode::CallModule) add(call.target());
  const std::function<void(const Argument&)> visit = [&](const Argument& argument) {
    if (const auto* reference = argument.as<SubgraphRef>()) add(reference->path);
    if (const auto* id = argument.as<NodeId>(); id && module.graph.node(*id).op() == Opcode::GetAttr)
      add(module.graph.node(*id).target());
    if (const ListArgument* list = argument.asList())
      for (const Argument& item : list->items) visit(item);
  };
  for (const Argument& argument : call.args()) visit(argument);
  for (const auto& [name, argument] : call.kwargs()) visit(argument);
  return nested;
}

std::size_t countCalls(const GraphModule& module) { return countCalls(module, 0); }

}  // namespace kerf::inline minifier::inline core
