// weightsOf(): users come after what they use, so one pass from the end gives the tree, one from the start its sums.
#include "minifier/core/unit_weights.h"

#include <algorithm>

#include "engine/ops/core/purity.h"

namespace kerf::inline minifier::inline core {

namespace {

double costOf(const GraphModule& module, const CallUnit& unit) {
  double cost = 1 + double(unit.items.size());
  for (const NestedGraph& nested : nestedGraphs(module, module.graph.node(unit.call)))
    cost += double(countCalls(*nested.graph));
  return cost;
}

/// Whether the unit's values are results, used by others or not.
bool isResult(const Graph& graph, const CallUnit& unit) {
  const auto isReturned = [&](NodeId id) {
    return std::ranges::any_of(graph.node(id).users(),
                               [&](NodeId user) { return graph.node(user).op() == Opcode::Output; });
  };
  return purityOf(graph.node(unit.call)) != Purity::Pure || isReturned(unit.call) ||
         std::ranges::any_of(unit.items, isReturned);
}

/// The tree of post-dominators of the use graph; its root, number `count`, stands for all that sees results.
class PostDominators {
 public:
  PostDominators(const Graph& graph, const std::vector<CallUnit>& units)
      : m_parents(units.size() + 1, units.size()), m_depths(units.size() + 1, 0) {
    const std::vector<UnitSet> users = unitUsers(graph, units);
    for (std::size_t unit = units.size(); unit-- > 0;) {
      const bool isLeaf = users[unit].empty() || isResult(graph, units[unit]);
      std::size_t parent = isLeaf ? units.size() : users[unit].front();
      if (!isLeaf)
        for (const std::size_t user : users[unit]) parent = common(parent, user);
      m_parents[unit] = parent;
      m_depths[unit] = m_depths[parent] + 1;
    }
  }
  std::size_t parent(std::size_t unit) const { return m_parents[unit]; }

 private:
  std::size_t common(std::size_t a, std::size_t b) const {
    while (a != b) {
      std::size_t& deeper = m_depths[a] >= m_depths[b] ? a : b;
      deeper = m_parents[deeper];
    }
    return a;
  }

  std::vector<std::size_t> m_parents, m_depths;
};

}  // namespace

SetWeights weightsOf(const GraphModule& module, const std::vector<CallUnit>& units) {
  SetWeights weights;
  for (const CallUnit& unit : units) weights.costs.push_back(costOf(module, unit));
  weights.falls = weights.costs;
  const PostDominators tree(module.graph, units);
  for (std::size_t unit = 0; unit < units.size(); ++unit)
    if (tree.parent(unit) < units.size()) weights.falls[tree.parent(unit)] += weights.falls[unit];
  return weights;
}

}  // namespace kerf::inline minifier::inline core
