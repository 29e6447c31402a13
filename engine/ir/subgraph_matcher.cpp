// findPattern: backtracking over the pattern's results, each matched from its node towards the inputs.
#include <algorithm>

#include "engine/ir/subgraph_rewriter.h"

namespace kerf::inline ir {
namespace {

class Matcher {
 public:
  Matcher(const Graph& graph, const Graph& pattern) : m_graph(graph), m_pattern(pattern) {
    const NodeId output = pattern.outputNode();
    if (!output.valid()) return;
    m_returned = pattern.node(output).inputs();
    for (const NodeId id : m_returned) {
      const Node& node = pattern.node(id);
      if (node.op() != Opcode::Placeholder && node.users().size() == 1) m_anchors.push_back(id);
    }
  }

  bool hasAnchors() const { return !m_anchors.empty(); }

  std::vector<PatternNodes> run() {
    for (const NodeId candidate : m_graph.order()) {
      PatternNodes nodes;
      if (!matchNode(m_anchors.front(), candidate, nodes)) continue;
      if (!matchOtherAnchors(1, nodes)) continue;
      for (const auto& [patternNode, node] : nodes)
        if (m_pattern.node(patternNode).op() != Opcode::Placeholder) m_taken[node] = true;
      m_found.push_back(std::move(nodes));
    }
    return std::move(m_found);
  }

 private:
  /// Results after the first may be anywhere; the first assignment that fits is taken.
  bool matchOtherAnchors(std::size_t index, PatternNodes& nodes) {
    if (index == m_anchors.size()) return isComplete(nodes) && isContained(nodes);
    if (nodes.contains(m_anchors[index])) return matchOtherAnchors(index + 1, nodes);
    for (const NodeId candidate : m_graph.order()) {
      PatternNodes attempt = nodes;
      if (!matchNode(m_anchors[index], candidate, attempt) || !matchOtherAnchors(index + 1, attempt)) continue;
      nodes = std::move(attempt);
      return true;
    }
    return false;
  }

  bool isComplete(const PatternNodes& nodes) const {
    return std::ranges::all_of(m_pattern.order(), [&](NodeId id) {
      const Node& node = m_pattern.node(id);
      return nodes.contains(id) || node.op() == Opcode::Output || node.op() == Opcode::Placeholder;
    });
  }

  bool isContained(const PatternNodes& nodes) const {
    std::unordered_map<NodeId, bool> inside;
    for (const auto& [patternNode, node] : nodes)
      inside[node] = inside[node] || m_pattern.node(patternNode).op() != Opcode::Placeholder;
    return std::ranges::all_of(nodes, [&](const auto& entry) {
      // a wildcard cannot stand for a node that will be replaced
      if (m_pattern.node(entry.first).op() == Opcode::Placeholder && inside.at(entry.second)) return false;
      const bool visible = m_pattern.node(entry.first).op() == Opcode::Placeholder ||
                           std::ranges::find(m_returned, entry.first) != m_returned.end();
      return visible || std::ranges::all_of(m_graph.node(entry.second).users(), [&](NodeId user) {
               const auto found = inside.find(user);
               return found != inside.end() && found->second;
             });
    });
  }

  bool matchNode(NodeId patternId, NodeId id, PatternNodes& nodes) const {
    if (const auto known = nodes.find(patternId); known != nodes.end()) return known->second == id;
    const Node& wanted = m_pattern.node(patternId);
    if (wanted.op() == Opcode::Placeholder) {
      nodes[patternId] = id;
      return true;
    }
    const Node& node = m_graph.node(id);
    if (node.op() != wanted.op() || node.target() != wanted.target() || m_taken.contains(id)) return false;
    if (std::ranges::any_of(nodes, [&](const auto& entry) {
          return entry.second == id && m_pattern.node(entry.first).op() != Opcode::Placeholder;
        }))
      return false;
    nodes[patternId] = id;
    return matchLists(wanted.args(), node.args(), nodes) && matchKeywords(wanted.kwargs(), node.kwargs(), nodes);
  }

  bool matchLists(const ArgumentList& wanted, const ArgumentList& actual, PatternNodes& nodes) const {
    if (wanted.size() != actual.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (!matchArgument(wanted[i], actual[i], nodes)) return false;
    return true;
  }

  /// Keyword arguments may come in any order.
  bool matchKeywords(const KeywordArguments& wanted, const KeywordArguments& actual, PatternNodes& nodes) const {
    if (wanted.size() != actual.size()) return false;
    return std::ranges::all_of(wanted, [&](const auto& entry) {
      const auto found = std::ranges::find(actual, entry.first, [](const auto& other) { return other.first; });
      return found != actual.end() && matchArgument(entry.second, found->second, nodes);
    });
  }

  bool matchArgument(const Argument& wanted, const Argument& actual, PatternNodes& nodes) const {
    if (const auto* id = wanted.as<NodeId>()) {
      const auto* node = actual.as<NodeId>();
      return node != nullptr && matchNode(*id, *node, nodes);
    }
    if (const auto* list = wanted.asList()) {
      const auto* other = actual.asList();
      return other != nullptr && other->isTuple == list->isTuple && matchLists(list->items, other->items, nodes);
    }
    if (const auto* slice = wanted.asSlice()) {
      const auto* other = actual.asSlice();
      return other != nullptr && matchLists(slice->items, other->items, nodes);
    }
    if (const auto* dict = wanted.asDict()) {
      const auto* other = actual.asDict();
      return other != nullptr && matchKeywords(dict->items, other->items, nodes);
    }
    return wanted == actual;
  }

  const Graph& m_graph;
  const Graph& m_pattern;
  std::vector<NodeId> m_returned;
  std::vector<NodeId> m_anchors;  ///< returned nodes that no other pattern node uses
  std::unordered_map<NodeId, bool> m_taken;
  std::vector<PatternNodes> m_found;
};

}  // namespace

Result<std::vector<PatternNodes>> findPattern(const Graph& graph, const Graph& pattern) {
  Matcher matcher(graph, pattern);
  if (!matcher.hasAnchors()) return fail(ErrorCode::BadUsage, "the pattern returns no computed value");
  return matcher.run();
}

}  // namespace kerf::inline ir
