// findPattern: backtracking over the pattern's results, each matched from its node towards the inputs.
#include <algorithm>

#include "engine/ir/subgraph_rewriter.h"

namespace kerf::inline ir {
namespace {

bool isConstant(const Argument& argument) {
  return argument.as<NodeId>() == nullptr && argument.asList() == nullptr && argument.asSlice() == nullptr &&
         argument.asDict() == nullptr;
}

class Matcher {
 public:
  Matcher(const Graph& graph, const Graph& pattern, const MatchOptions& options)
      : m_graph(graph), m_pattern(pattern), m_options(options) {
    const NodeId output = pattern.outputNode();
    if (!output.valid()) return;
    m_returned = pattern.node(output).inputs();
    for (const NodeId id : m_returned) {
      const Node& node = pattern.node(id);
      if (node.op() != Opcode::Placeholder && node.users().size() == 1) m_anchors.push_back(id);
    }
  }

  bool hasAnchors() const { return !m_anchors.empty(); }

  std::vector<PatternOccurrence> run() {
    for (const NodeId candidate : m_graph.order()) {
      PatternOccurrence found;
      if (!matchNode(m_anchors.front(), candidate, found)) continue;
      if (!matchOtherAnchors(1, found) || !passesFilters(found)) continue;
      for (const auto& [patternNode, node] : found.nodes)
        if (m_pattern.node(patternNode).op() != Opcode::Placeholder) m_taken[node] = true;
      m_found.push_back(std::move(found));
    }
    return std::move(m_found);
  }

 private:
  bool passesFilters(const PatternOccurrence& found) const {
    return std::ranges::all_of(m_options.filters,
                               [&](const MatchFilter& filter) { return filter(found, m_graph, m_pattern); });
  }

  /// Results after the first may be anywhere; the first assignment that fits is taken.
  bool matchOtherAnchors(std::size_t index, PatternOccurrence& found) {
    if (index == m_anchors.size()) return isComplete(found.nodes) && isContained(found.nodes);
    if (found.nodes.contains(m_anchors[index])) return matchOtherAnchors(index + 1, found);
    for (const NodeId candidate : m_graph.order()) {
      PatternOccurrence attempt = found;
      if (!matchNode(m_anchors[index], candidate, attempt) || !matchOtherAnchors(index + 1, attempt)) continue;
      found = std::move(attempt);
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
      if (m_pattern.node(entry.first).op() == Opcode::Placeholder) return !inside.at(entry.second);
      if (std::ranges::find(m_returned, entry.first) != m_returned.end()) return true;
      return std::ranges::all_of(m_graph.node(entry.second).users(), [&](NodeId user) {
        const auto found = inside.find(user);
        return found != inside.end() && found->second;
      });
    });
  }

  bool matchNode(NodeId patternId, NodeId id, PatternOccurrence& found) const {
    if (found.literals.contains(patternId)) return false;
    if (const auto known = found.nodes.find(patternId); known != found.nodes.end()) return known->second == id;
    const Node& wanted = m_pattern.node(patternId);
    if (wanted.op() == Opcode::Placeholder) {
      found.nodes[patternId] = id;
      return true;
    }
    const Node& node = m_graph.node(id);
    if (node.op() != wanted.op() || node.target() != wanted.target() || m_taken.contains(id)) return false;
    if (std::ranges::any_of(found.nodes, [&](const auto& entry) {
          return entry.second == id && m_pattern.node(entry.first).op() != Opcode::Placeholder;
        }))
      return false;
    found.nodes[patternId] = id;
    return matchLists(wanted.args(), node.args(), found) && matchKeywords(wanted.kwargs(), node.kwargs(), found);
  }

  bool matchWildcard(NodeId wildcard, const Argument& actual, PatternOccurrence& found) const {
    if (!m_options.wildcardsMatchLiterals || m_pattern.node(wildcard).op() != Opcode::Placeholder ||
        found.nodes.contains(wildcard))
      return false;
    return found.literals.try_emplace(wildcard, actual).first->second == actual;
  }

  bool matchLists(const ArgumentList& wanted, const ArgumentList& actual, PatternOccurrence& found) const {
    if (wanted.size() != actual.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (!matchArgument(wanted[i], actual[i], found)) return false;
    return true;
  }

  /// Keyword arguments may come in any order.
  bool matchKeywords(const KeywordArguments& wanted, const KeywordArguments& actual, PatternOccurrence& found) const {
    if (wanted.size() != actual.size()) return false;
    return std::ranges::all_of(wanted, [&](const auto& entry) {
      const auto other = std::ranges::find(actual, entry.first, [](const auto& named) { return named.first; });
      return other != actual.end() && matchArgument(entry.second, other->second, found);
    });
  }

  bool matchArgument(const Argument& wanted, const Argument& actual, PatternOccurrence& found) const {
    if (const auto* id = wanted.as<NodeId>()) {
      const auto* node = actual.as<NodeId>();
      return node != nullptr ? matchNode(*id, *node, found) : matchWildcard(*id, actual, found);
    }
    if (const auto* list = wanted.asList()) {
      const auto* other = actual.asList();
      return other != nullptr && other->isTuple == list->isTuple && matchLists(list->items, other->items, found);
    }
    if (const auto* slice = wanted.asSlice()) {
      const auto* other = actual.asSlice();
      return other != nullptr && matchLists(slice->items, other->items, found);
    }
    if (const auto* dict = wanted.asDict()) {
      const auto* other = actual.asDict();
      return other != nullptr && matchKeywords(dict->items, other->items, found);
    }
    return wanted == actual || (m_options.ignoresLiterals && isConstant(actual));
  }

  const Graph& m_graph;
  const Graph& m_pattern;
  const MatchOptions& m_options;
  std::vector<NodeId> m_returned;
  std::vector<NodeId> m_anchors;  ///< returned nodes that no other pattern node uses
  std::unordered_map<NodeId, bool> m_taken;
  std::vector<PatternOccurrence> m_found;
};

}  // namespace

Argument PatternOccurrence::of(NodeId wildcard) const {
  if (const auto node = nodes.find(wildcard); node != nodes.end()) return node->second;
  const auto literal = literals.find(wildcard);
  return literal == literals.end() ? Argument() : literal->second;
}

Result<std::vector<PatternOccurrence>> findPattern(const Graph& graph, const Graph& pattern,
                                                   const MatchOptions& options) {
  Matcher matcher(graph, pattern, options);
  if (!matcher.hasAnchors()) return fail(ErrorCode::BadUsage, "the pattern returns no computed value");
  return matcher.run();
}

}  // namespace kerf::inline ir
