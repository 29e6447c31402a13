// updateShapes(): clears, propagates, and gives what has no rule its meta back for a second look.
#include "minifier/core/shape_update.h"

#include <algorithm>
#include <vector>

#include "engine/ops/core/op_registry.h"
#include "minifier/core/call_units.h"

namespace kerf::inline minifier::inline core {

namespace {

bool hasRule(const Node& node) { return node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod; }

/// Whether two arguments are the same, up to operands that differ but have the same metas.
bool alike(const Graph& graphA, const Argument& a, const Graph& graphB, const Argument& b) {
  const auto *x = a.as<NodeId>(), *y = b.as<NodeId>();
  if (x && y) return graphA.node(*x).meta().value == graphB.node(*y).meta().value;
  const ListArgument *itemsA = a.asList(), *itemsB = b.asList();
  if (!itemsA || !itemsB) return a == b;
  return std::ranges::equal(itemsA->items, itemsB->items, [&](const Argument& itemA, const Argument& itemB) {
    return alike(graphA, itemA, graphB, itemB);
  });
}

bool operandsAlike(const Graph& graphA, const Graph& graphB, NodeId id) {
  const Node &a = graphA.node(id), &b = graphB.node(id);
  return a.target() == b.target() &&
         std::ranges::equal(a.args(), b.args(),
                            [&](const Argument& x, const Argument& y) { return alike(graphA, x, graphB, y); }) &&
         std::ranges::equal(a.kwargs(), b.kwargs(), [&](const auto& x, const auto& y) {
           return x.first == y.first && alike(graphA, x.second, graphB, y.second);
         });
}

class ShapeUpdate {
 public:
  ShapeUpdate(GraphModule& module, const GraphModule& before)
      : m_module(module), m_before(before), m_edited(module.graph) {}

  bool run() {
    std::vector<NodeId> calls = affectedCalls();
    clear(calls);
    if (!propagateShapes(m_module)) return false;
    std::erase_if(calls, [&](NodeId id) { return !meta(m_edited, id).known() || meta(graph(), id).known(); });
    if (calls.empty()) return true;
    // Ops without a rule, and what is computed from them.
    for (const NodeId id : calls) graph().setValueMeta(id, meta(m_edited, id));
    if (!propagateShapes(m_module)) return false;
    std::vector<NodeId> stale = calls;
    std::erase_if(stale, [&](NodeId id) { return isJustified(id); });
    if (stale.empty()) return true;
    clear(stale);
    return propagateShapes(m_module) && std::ranges::all_of(calls, [&](NodeId id) {
             const bool wasCleared = std::ranges::find(stale, id) != stale.end();
             return wasCleared ? meta(graph(), id).known() : isJustified(id);
           });
  }

 private:
  Graph& graph() { return m_module.graph; }
  static const ValueMeta& meta(const Graph& graph, NodeId id) { return graph.node(id).meta().value; }

  std::vector<NodeId> affectedCalls() {
    std::vector<NodeId> calls;
    std::vector<char> isAffected;
    for (const NodeId id : m_edited.order()) {
      const Node& node = m_edited.node(id);
      if (isAffected.size() <= id.index) isAffected.resize(id.index + std::size_t{1});
      const auto affects = [&](NodeId operand) { return isAffected[operand.index] != 0; };
      if (!differs(node) && std::ranges::none_of(node.inputs(), affects)) continue;
      isAffected[id.index] = 1;
      if (hasRule(node)) calls.push_back(id);
    }
    return calls;
  }

  bool differs(const Node& node) const {
    if (!m_before.graph.contains(node.id())) return true;
    const Node& old = m_before.graph.node(node.id());
    if (node.op() != old.op() || node.target() != old.target() || !(node.meta().value == old.meta().value) ||
        node.args() != old.args() || node.kwargs() != old.kwargs())
      return true;
    if (!isCallNode(node)) return false;
    return !std::ranges::equal(nestedGraphs(m_module, node), nestedGraphs(m_before, old), {}, &NestedGraph::graph,
                               &NestedGraph::graph);
  }

  void clear(const std::vector<NodeId>& calls) {
    for (const NodeId id : calls) graph().setValueMeta(id, {});
  }

  /// Whether the meta that the edit left is right for the operands as they are now. An edit that wrote the meta itself
  /// wrote those of the operands too.
  bool isJustified(NodeId id) {
    const bool wrote = !m_before.graph.contains(id) || !(meta(m_edited, id) == meta(m_before.graph, id));
    return operandsAlike(wrote ? m_edited : m_before.graph, graph(), id);
  }

  GraphModule& m_module;
  const GraphModule& m_before;
  const Graph m_edited;  ///< as the edit left it
};

}  // namespace

bool updateShapes(GraphModule& module, const GraphModule& before) { return ShapeUpdate(module, before).run(); }

}  // namespace kerf::inline minifier::inline core
