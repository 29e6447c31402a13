#include "engine/verification/changed_node.h"

#include <algorithm>
#include <optional>
#include <set>

#include "engine/diff/graph_diff.h"
#include "engine/ir/printer.h"
#include "engine/verification/memory_edges.h"

namespace kerf::inline verification {
namespace {

constexpr std::string_view reorderings[] = {".permute.", ".transpose.", ".t.", ".flip.", ".roll."};

/// Earlier nodes by number of elements, and within it by norm.
class ValueIndex {
 public:
  explicit ValueIndex(const PrintedGraph& graph) : m_graph(graph) {
    for (const NodeId id : graph.module->graph.order())
      if (graph.print(id).known() && graph.module->graph.node(id).op() != Opcode::Output)
        m_entries[graph.print(id).numel].emplace(graph.print(id).norm, id);
  }

  /// The nearest node within `tolerance`; at the same distance one of the same name, then the first.
  std::optional<NodeId> find(const ValuePrint& print, const std::string& name, double tolerance) const {
    const auto entries = m_entries.find(print.numel);
    if (!print.known() || entries == m_entries.end()) return std::nullopt;
    const double slack = tolerance * print.norm * 2;
    std::optional<NodeId> found;
    double best = tolerance;
    for (auto entry = entries->second.lower_bound(print.norm - slack);
         entry != entries->second.end() && entry->first <= print.norm + slack; ++entry) {
      const double apart = distance(print, m_graph.print(entry->second));
      if (apart > tolerance) continue;
      const bool sameName = m_graph.module->graph.node(entry->second).name() == name;
      if (sameName) return entry->second;
      if (found && apart >= best) continue;
      best = apart;
      found = entry->second;
    }
    return found;
  }

 private:
  const PrintedGraph& m_graph;
  std::map<std::int64_t, std::multimap<double, NodeId>> m_entries;
};

/// "torch.ops.aten.mul.Tensor(%add_2, 0.7071)"
std::string callText(const Graph& graph, const Node& node) {
  std::string text;
  for (const Argument& argument : node.args())
    text += (text.empty() ? "" : ", ") + printArgument(graph, argument, ArgumentStyle::GraphText);
  for (const auto& [name, value] : node.kwargs())
    text += (text.empty() ? "" : ", ") + name + " = " + printArgument(graph, value, ArgumentStyle::GraphText);
  constexpr std::size_t longest = 240;
  if (text.size() > longest) text.replace(longest, std::string::npos, "…");
  return fmt::format("{}({})", node.op() == Opcode::Output ? "return " : node.target(), text);
}

/// Everything that `roots` depend on, themselves included.
std::set<NodeId> ancestorsOf(const Graph& graph, std::vector<NodeId> roots) {
  std::set<NodeId> found;
  while (!roots.empty()) {
    const NodeId id = roots.back();
    roots.pop_back();
    if (!found.insert(id).second) continue;
    for (const NodeId input : graph.node(id).inputs()) roots.push_back(input);
  }
  return found;
}

ChangedNode describe(const Graph& earlier, const Graph& graph, const Node& node, std::optional<NodeId> counterpart) {
  ChangedNode changed{node.name(), callText(graph, node), {}, {}, {}};
  if (counterpart) {
    changed.before = earlier.node(*counterpart).name();
    changed.callBefore = callText(earlier, earlier.node(*counterpart));
  }
  return changed;
}

/// Paths of the nested graphs that a call is given.
std::vector<std::string> nestedPaths(const GraphModule& module, const Node& node) {
  std::vector<std::string> paths;
  for (const NodeId input : node.inputs()) {
    const Node& operand = module.graph.node(input);
    const Submodule* found = operand.op() == Opcode::GetAttr ? module.submodule(operand.target()) : nullptr;
    if (found != nullptr && found->graph) paths.push_back(operand.target());
  }
  return paths;
}

/// For a call whose nested graphs are not those of the other stage: the node in there that is another call. Values
/// inside of nested graphs are not recorded, so that this goes by what is written.
void lookInside(const GraphModule& earlier, const GraphModule& later, const Node& node, ChangedNode& changed) {
  for (const std::string& path : nestedPaths(later, node)) {
    const Submodule* other = earlier.submodule(path);
    if (other == nullptr || !other->graph) continue;
    const Graph &before = other->graph->graph, &after = later.submodule(path)->graph->graph;
    for (const NodeDelta& delta : diffGraphs(before, after).nodes) {
      if (!delta.after.valid() || !(delta.added() || delta.rewritten() || delta.callChanged)) continue;
      changed.node = fmt::format("{}/{}", path, after.node(delta.after).name());
      changed.call = callText(after, after.node(delta.after));
      const bool known = delta.before.valid();
      changed.before = known ? fmt::format("{}/{}", path, before.node(delta.before).name()) : "";
      changed.callBefore = known ? callText(before, before.node(delta.before)) : "";
      return;
    }
  }
}

class Search {
 public:
  Search(const PrintedGraph& before, const PrintedGraph& after, const NodeMap& map, const std::set<NodeId>& known,
         bool relaxed, double tolerance)
      : m_before(before),
        m_after(after),
        m_map(map),
        m_known(known),
        m_relaxed(relaxed),
        m_tolerance(tolerance),
        m_edges(after.module->graph) {}

  ChangedNode run(const std::vector<NodeId>& different) {
    for (const NodeId id : different) collect(id);
    std::vector<NodeId> starts;
    for (const NodeId id : graph().order())
      if (m_open.contains(id) && isStart(id)) starts.push_back(id);
    // Constants that only the later graph has say little; what is computed with them says more.
    std::ranges::stable_partition(starts, [&](NodeId id) { return !graph().node(id).inputs().empty(); });
    if (starts.empty()) return different.empty() ? ChangedNode() : otherValue(different);
    starts.front() = substituted(starts.front());
    ChangedNode changed = named(starts.front());
    lookInside(*m_before.module, *m_after.module, graph().node(starts.front()), changed);
    constexpr std::size_t shown = 8;
    for (std::size_t i = 1; i < std::min(starts.size(), shown); ++i)
      changed.others.push_back(graph().node(starts[i]).name());
    return changed;
  }

 private:
  const Graph& graph() const { return m_after.module->graph; }

  /// Nodes without tensors (sizes, lists) are as good as their operands.
  bool isTransparent(NodeId id) const { return !m_after.print(id).known(); }

  bool onlyReorders(NodeId id) const {
    const auto inputs = graph().node(id).inputs();
    return std::ranges::any_of(inputs, [&](NodeId input) {
      return isMatched(input) && mayBeReordered(m_after.print(id), m_after.print(input), m_tolerance);
    });
  }

  bool isMatched(NodeId id) const {
    return graph().node(id).op() == Opcode::Placeholder || graph().node(id).op() == Opcode::GetAttr ||
           m_map.contains(id) || m_known.contains(id);
  }

  bool isClosed(NodeId id) const { return isMatched(id) || (m_relaxed && !isTransparent(id) && onlyReorders(id)); }

  void collect(NodeId from) {
    std::vector<NodeId> stack{from};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (isClosed(id) || !m_open.insert(id).second) continue;
      for (const NodeId input : m_edges.dependencies(id)) stack.push_back(input);
    }
  }

  bool isStart(NodeId id) const {
    if (isTransparent(id)) return false;
    const auto inputs = m_edges.dependencies(id);
    return std::ranges::none_of(inputs, [&](NodeId input) { return isOpenTensor(input); });
  }
  bool isOpenTensor(NodeId id) const {
    if (!m_open.contains(id)) return false;
    if (!isTransparent(id)) return true;
    return std::ranges::any_of(graph().node(id).inputs(), [&](NodeId input) { return isOpenTensor(input); });
  }

  bool hasOtherValue(NodeId id) const {
    const auto other = m_before.module->graph.find(graph().node(id).name());
    return other && m_before.print(*other).known() && m_after.print(id).known() &&
           distance(m_before.print(*other), m_after.print(id)) > m_tolerance;
  }

  /// An op that does nothing any more gives its operand's value, which is known; but its own name had another.
  NodeId substituted(NodeId start) const {
    if (m_relaxed) return start;
    for (const NodeId input : graph().node(start).inputs())
      if (graph().node(input).op() != Opcode::Placeholder && (hasOtherValue(input) || movesNothing(input)))
        return input;
    return start;
  }

  /// A reordering that leaves every element where it is: nobody writes one, so that what follows is wrong because of
  /// it.
  bool movesNothing(NodeId id) const {
    const Node& node = graph().node(id);
    const bool reorders = std::ranges::any_of(
        reorderings, [&](std::string_view name) { return node.target().find(name) != std::string::npos; });
    if (!reorders || node.inputs().empty() || m_before.module->graph.find(node.name())) return false;
    const ValuePrint& own = m_after.print(id);
    return own.known() && own.numel > 1 && distance(own, m_after.print(node.inputs()[0])) == 0;
  }

  /// All values are known from the earlier stage, but from other nodes: the first that has another value than the node
  /// of its name has there; else it is what is returned that changed.
  ChangedNode otherValue(const std::vector<NodeId>& different) const {
    const auto needed = ancestorsOf(graph(), different);
    for (const NodeId id : graph().order())
      if (!m_relaxed && needed.contains(id) && hasOtherValue(id)) return named(id);
    return named(graph().outputNode());
  }

  /// The earlier node of that name, or one with the same op whose operands are the counterparts of this node's.
  std::optional<NodeId> counterpart(const Node& node) const {
    const Graph& earlier = m_before.module->graph;
    if (node.op() == Opcode::Output) return earlier.outputNode();
    const auto named = earlier.find(node.name());
    if (named && earlier.node(*named).op() == node.op()) return named;
    for (const NodeId input : node.inputs()) {
      const auto known = m_map.find(input);
      if (known == m_map.end()) continue;
      for (const NodeId user : earlier.node(known->second).users())
        if (earlier.node(user).target() == node.target()) return user;
    }
    return std::nullopt;
  }

  ChangedNode named(NodeId id) const {
    const Node& node = graph().node(id);
    return describe(m_before.module->graph, graph(), node, counterpart(node));
  }

  const PrintedGraph& m_before;
  const PrintedGraph& m_after;
  const NodeMap& m_map;
  const std::set<NodeId>& m_known;
  bool m_relaxed;
  double m_tolerance;
  MemoryEdges m_edges;
  std::set<NodeId> m_open;  ///< without counterpart, and the different items depend on them
};

}  // namespace

const ValuePrint& PrintedGraph::print(NodeId id) const {
  static const ValuePrint none;
  return id.index < prints->size() ? (*prints)[id.index] : none;
}

NodeMap mapNodes(const PrintedGraph& before, const PrintedGraph& after, double tolerance) {
  const ValueIndex index(before);
  NodeMap map;
  for (const NodeId id : after.module->graph.order()) {
    const Node& node = after.module->graph.node(id);
    if (node.op() == Opcode::Output) continue;
    if (const auto found = index.find(after.print(id), node.name(), tolerance)) map.emplace(id, *found);
  }
  return map;
}

ChangedNode findChangedNode(const PrintedGraph& before, const PrintedGraph& after, const NodeMap& map,
                            const std::vector<NodeId>& different, bool relaxed, double tolerance,
                            const std::set<NodeId>& known) {
  return Search(before, after, map, known, relaxed, tolerance).run(different);
}

ChangedNode findRoundingNode(const std::array<PrintedGraph, 2>& before, const std::array<PrintedGraph, 2>& after,
                             const NodeMap& map, const std::vector<NodeId>& different, double factor, double floor) {
  const Graph &earlier = before[0].module->graph, &graph = after[0].module->graph;
  const auto needed = ancestorsOf(graph, different);
  const auto errorOf = [](const std::array<PrintedGraph, 2>& graphs, NodeId id) {
    return distance(graphs[0].print(id), graphs[1].print(id));
  };
  std::optional<NodeId> rounding;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!needed.contains(id) || !after[1].print(id).known() || node.op() == Opcode::Placeholder) continue;
    const auto named = earlier.find(node.name());
    if (named && before[1].print(*named).known() && before[1].print(*named).dtype != after[1].print(id).dtype)
      return describe(earlier, graph, node, named);
    const auto known = map.find(id);
    if (rounding || known == map.end()) continue;
    if (errorOf(after, id) > factor * std::max(errorOf(before, known->second), floor)) rounding = id;
  }
  if (!rounding) return {};
  return describe(earlier, graph, graph.node(*rounding), map.at(*rounding));
}

}  // namespace kerf::inline verification
