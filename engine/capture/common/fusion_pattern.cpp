#include "engine/capture/common/fusion_pattern.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline capture {
namespace {

bool isItem(const Node& node) { return node.target() == "operator.getitem"; }

/// Which of a graph's random numbers: the same code is given another index.
bool isSeedLookup(const Node& node) { return node.target().find("inductor_lookup_seed") != std::string::npos; }

class Unifier {
 public:
  Unifier(const Graph& graph, const std::unordered_set<NodeId>& inside, const NodeMapping& known)
      : m_graph(graph), m_inside(inside), m_known(known) {}

  /// Whether `theirs` can stand for `ours`; on failure what was bound is unbound again.
  bool fits(NodeId ours, NodeId theirs) {
    const std::size_t before = m_bound.size();
    if (unify(ours, theirs)) return true;
    while (m_bound.size() > before) {
      if (m_inside.contains(m_bound.back())) m_used.erase(m_map.at(m_bound.back()));
      m_map.erase(m_bound.back());
      m_bound.pop_back();
    }
    return false;
  }
  const NodeMapping& map() const { return m_map; }

 private:
  /// Depth first over an explicit stack: graphs may be deep.
  bool unify(NodeId ours, NodeId theirs) {
    std::vector<std::pair<NodeId, NodeId>> stack{{ours, theirs}};
    while (!stack.empty()) {
      const auto [a, b] = stack.back();
      stack.pop_back();
      const auto [slot, fresh] = m_map.try_emplace(a, b);
      if (!fresh) {
        if (slot->second != b) return false;
        continue;
      }
      m_bound.push_back(a);
      if (!m_inside.contains(a)) {
        if (!leafFits(a, b)) return false;
      } else if (!m_used.insert(b).second) {  // two calls of the pattern are two calls there
        m_map.erase(a);
        m_bound.pop_back();
        return false;
      } else if (!callsFit(m_graph.node(a), m_graph.node(b), stack)) {
        return false;
      }
    }
    return true;
  }

  bool leafFits(NodeId a, NodeId b) const {
    const auto known = m_known.find(a);
    if (known != m_known.end()) return known->second == b;
    const TensorMeta* ours = m_graph.node(a).meta().value.tensor();
    const TensorMeta* theirs = m_graph.node(b).meta().value.tensor();
    return ours == nullptr || theirs == nullptr || ours->dtype == theirs->dtype;
  }

  bool callsFit(const Node& a, const Node& b, std::vector<std::pair<NodeId, NodeId>>& stack) const {
    if (a.op() != b.op() || a.target() != b.target() || a.args().size() != b.args().size()) return false;
    const std::vector<NodeId> ours = a.inputs();
    const std::vector<NodeId> theirs = b.inputs();
    if (ours.size() != theirs.size()) return false;
    const auto seen = [](NodeId) { return Argument(); };
    if (!isSeedLookup(a)) {
      for (std::size_t i = 0; i < a.args().size(); ++i)
        if (mapNodes(a.args()[i], seen) != mapNodes(b.args()[i], seen)) return false;
      if (a.kwargs().size() != b.kwargs().size()) return false;
      for (std::size_t i = 0; i < a.kwargs().size(); ++i)
        if (a.kwargs()[i].first != b.kwargs()[i].first ||
            mapNodes(a.kwargs()[i].second, seen) != mapNodes(b.kwargs()[i].second, seen))
          return false;
    }
    for (std::size_t i = 0; i < ours.size(); ++i) stack.emplace_back(ours[i], theirs[i]);
    return true;
  }

  const Graph& m_graph;
  const std::unordered_set<NodeId>& m_inside;
  const NodeMapping& m_known;
  NodeMapping m_map;
  std::unordered_set<NodeId> m_used;  ///< what stands for the pattern's own nodes
  std::vector<NodeId> m_bound;
};

std::vector<NodeId> candidates(const SearchedGraph& graph, NodeId sink, const NodeMapping& known) {
  if (const auto one = known.find(sink); one != known.end()) return {one->second};
  return graph.callsOf(graph.node(sink).target());
}

/// The other sinks, each where it fits first; none is tried twice.
bool placeRest(const SearchedGraph& graph, const KernelNodes& pattern, const NodeMapping& known,
               const std::unordered_set<NodeId>& taken, Unifier& unifier) {
  for (std::size_t i = 1; i < pattern.sinks.size(); ++i) {
    if (unifier.map().contains(pattern.sinks[i])) continue;
    bool placed = false;
    for (const NodeId id : candidates(graph, pattern.sinks[i], known)) {
      placed = !taken.contains(id) && unifier.fits(pattern.sinks[i], id);
      if (placed) break;
    }
    if (!placed) return false;
  }
  return true;
}

/// Views that change nothing (an expand to the same size) are left out of fragments: those between nodes of the kernel.
void addViewsBefore(const SearchedGraph& graph, NodeId node, std::unordered_set<NodeId>& inside) {
  for (const NodeId input : graph.node(node).inputs()) {
    std::vector<NodeId> chain;
    NodeId at = input;
    while (!inside.contains(at) && isViewCall(graph.node(at))) {
      chain.push_back(at);
      at = graph.node(at).inputs().front();
    }
    if (inside.contains(at)) inside.insert(chain.begin(), chain.end());
  }
}

}  // namespace

bool isViewCall(const Node& node) {
  const OpInfo* op = findOp(node);
  return op != nullptr && has(op->traits, OpTrait::View) && !node.inputs().empty();
}

SearchedGraph::SearchedGraph(const Graph& graph) : m_graph(graph) {
  for (const NodeId id : graph.order()) {
    m_position.emplace(id, m_position.size());
    if (graph.node(id).op() == Opcode::CallFunction) m_calls[graph.node(id).target()].push_back(id);
  }
}

const std::vector<NodeId>& SearchedGraph::callsOf(const std::string& target) const {
  static const std::vector<NodeId> none;
  const auto found = m_calls.find(target);
  return found == m_calls.end() ? none : found->second;
}

void SearchedGraph::sort(std::vector<NodeId>& nodes) const {
  std::ranges::sort(nodes, {}, [&](NodeId id) { return m_position.at(id); });
}

KernelNodes kernelNodes(const SearchedGraph& graph, const std::vector<NodeId>& nodes, const KernelMemory& memory) {
  std::unordered_set<NodeId> inside(nodes.begin(), nodes.end());
  for (const NodeId id : nodes)  // fragments leave out the items of what they compute
    for (const NodeId user : graph.node(id).users())
      if (isItem(graph.node(user))) inside.insert(user);
  for (const NodeId id : memory.stored)
    if (isItem(graph.node(id)) || isViewCall(graph.node(id))) inside.insert(id);
  const std::vector<NodeId> listed(inside.begin(), inside.end());
  for (const NodeId id : listed) addViewsBefore(graph, id, inside);
  const auto isUsed = [&](NodeId id) {
    return std::ranges::any_of(graph.node(id).users(), [&](NodeId user) { return inside.contains(user); });
  };
  std::vector<NodeId> stack;
  for (const NodeId id : memory.stored)
    if (inside.contains(id)) stack.push_back(id);
  if (stack.empty() || memory.storesOthers)
    for (const NodeId id : inside)
      if (!memory.loaded.contains(id) && !isUsed(id)) stack.push_back(id);
  const std::unordered_set<NodeId> results(stack.begin(), stack.end());
  std::unordered_set<NodeId> reached;
  KernelNodes kernel;
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (!inside.contains(id) || (memory.loaded.contains(id) && !results.contains(id)) || !reached.insert(id).second)
      continue;
    if (memory.finished.contains(id))
      kernel.finished.push_back(id);
    else
      for (const NodeId input : graph.node(id).inputs()) stack.push_back(input);
  }
  kernel.nodes.assign(reached.begin(), reached.end());
  kernel.sinks.assign(results.begin(), results.end());
  for (auto* list : {&kernel.nodes, &kernel.sinks, &kernel.finished}) graph.sort(*list);
  return kernel;
}

std::optional<NodeMapping> findAgain(const SearchedGraph& graph, const KernelNodes& pattern, const NodeMapping& known,
                                     const std::unordered_set<NodeId>& taken) {
  if (pattern.sinks.empty()) return {};
  std::unordered_set<NodeId> inside(pattern.nodes.begin(), pattern.nodes.end());
  for (const NodeId id : pattern.finished) {
    if (!known.contains(id)) return {};
    inside.erase(id);
  }
  for (const NodeId id : candidates(graph, pattern.sinks.front(), known)) {
    if (taken.contains(id)) continue;
    Unifier unifier(graph.graph(), inside, known);
    if (unifier.fits(pattern.sinks.front(), id) && placeRest(graph, pattern, known, taken, unifier))
      return unifier.map();
  }
  return {};
}

}  // namespace kerf::inline capture
