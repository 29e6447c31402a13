#include "engine/ir/subgraph_rewriter.h"

#include <algorithm>

#include "engine/ir/graph_copy.h"

namespace kerf::inline ir {
namespace {

std::vector<NodeId> returnedNodes(const Argument& value) {
  std::vector<NodeId> out;
  forEachNode(value, [&](NodeId id) { out.push_back(id); });
  return out;
}

std::vector<NodeId> outputs(const Graph& graph) { return returnedNodes(graph.node(graph.outputNode()).args().front()); }

/// Whether `replacement` may stand for `pattern`.
Result<void> checkReplacement(const Graph& pattern, const Graph& replacement) {
  if (!replacement.outputNode().valid()) return fail(ErrorCode::BadUsage, "the replacement returns nothing");
  const auto wildcards = pattern.placeholders();
  const auto inputs = replacement.placeholders();
  if (wildcards.size() != inputs.size())
    return fail(ErrorCode::BadUsage, "the pattern takes {} inputs but the replacement {}", wildcards.size(),
                inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (pattern.node(wildcards[i]).users().empty() && !replacement.node(inputs[i]).users().empty())
      return fail(ErrorCode::BadUsage, "the replacement uses input '{}', which the pattern does not determine",
                  replacement.node(inputs[i]).name());
  const std::size_t wanted = outputs(pattern).size();
  const std::size_t given = outputs(replacement).size();
  if (wanted == given) return {};
  return fail(ErrorCode::BadUsage, "the pattern returns {} values but the replacement {}", wanted, given);
}

class Rewriter {
 public:
  Rewriter(Graph& graph, const Graph& pattern) : m_graph(graph), m_pattern(pattern) {}

  /// The occurrence as the graph is now, after earlier replacements.
  PatternOccurrence updated(PatternOccurrence found) const {
    for (auto& [patternNode, node] : found.nodes) node = current(node);
    for (auto& [wildcard, literal] : found.literals)
      literal = mapNodes(literal, [&](NodeId id) -> Argument { return current(id); });
    return found;
  }

  Result<PatternMatch> replace(const PatternOccurrence& found, const Graph& replacement) {
    PatternMatch match{.nodes = found.nodes, .replacements = {}};
    const std::vector<NodeId> matched = matchedNodes(found.nodes);
    const Argument value = insertReplacement(found, replacement, matched.back(), match.replacements);
    const std::vector<NodeId> old = outputs(m_pattern);
    const std::vector<NodeId> fresh = returnedNodes(value);
    if (fresh.size() != old.size()) return fail(ErrorCode::BadUsage, "a replacement must return nodes");
    for (std::size_t i = 0; i < old.size(); ++i) redirect(found.nodes.at(old[i]), fresh[i], match.replacements);
    // users before their inputs
    for (auto id = matched.rbegin(); id != matched.rend(); ++id) KERF_CHECK(m_graph.eraseNode(*id));
    KERF_CHECK(m_graph.topologicalSort());
    return match;
  }

 private:
  /// What stands for a node now that earlier occurrences may have replaced it.
  NodeId current(NodeId node) const {
    for (auto found = m_replaced.find(node); found != m_replaced.end(); found = m_replaced.find(node))
      node = found->second;
    return node;
  }

  /// The nodes to erase, in execution order.
  std::vector<NodeId> matchedNodes(const PatternNodes& nodes) const {
    std::unordered_map<NodeId, bool> inside;
    for (const auto& [patternNode, node] : nodes)
      if (m_pattern.node(patternNode).op() != Opcode::Placeholder) inside[node] = true;
    std::vector<NodeId> out;
    for (const NodeId id : m_graph.order())
      if (inside.contains(id)) out.push_back(id);
    return out;
  }

  Argument insertReplacement(const PatternOccurrence& found, const Graph& replacement, NodeId after,
                             std::vector<NodeId>& created) {
    NodeArguments map;
    const auto wildcards = m_pattern.placeholders();
    const auto inputs = replacement.placeholders();
    for (std::size_t i = 0; i < inputs.size(); ++i) map[inputs[i]] = found.of(wildcards[i]);
    const InsertionScope scope(m_graph, InsertionScope::Where::After, after);
    const Argument value = copyGraph(m_graph, replacement, map);
    for (const NodeId id : replacement.order()) {
      const Node& node = replacement.node(id);
      if (node.op() != Opcode::Placeholder && node.op() != Opcode::Output) created.push_back(*map.at(id).as<NodeId>());
    }
    return value;
  }

  void redirect(NodeId old, NodeId fresh, const std::vector<NodeId>& created) {
    const bool isNew = std::ranges::find(created, fresh) != created.end();
    if (isNew && !m_graph.node(fresh).meta().value.known()) m_graph.setMeta(fresh, m_graph.node(old).meta());
    m_graph.replaceAllUsesWith(
        old, fresh, [&](const Node& user) { return std::ranges::find(created, user.id()) == created.end(); });
    m_replaced[old] = fresh;
  }

  Graph& m_graph;
  const Graph& m_pattern;
  std::unordered_map<NodeId, NodeId> m_replaced;
};

}  // namespace

Result<std::vector<PatternMatch>> replacePattern(Graph& graph, const Graph& pattern, const Graph& replacement,
                                                 const MatchOptions& options) {
  if (pattern.outputNode().valid()) KERF_CHECK(checkReplacement(pattern, replacement));
  const ReplacementOf same = [&](const PatternOccurrence&, const Graph&, const Graph&) -> Result<Graph> {
    return replacement;
  };
  return replacePattern(graph, pattern, same, options);
}

Result<std::vector<PatternMatch>> replacePattern(Graph& graph, const Graph& pattern, const ReplacementOf& replacement,
                                                 const MatchOptions& options) {
  KERF_TRY(const auto found, findPattern(graph, pattern, options));
  Rewriter rewriter(graph, pattern);
  std::vector<PatternMatch> out;
  for (const PatternOccurrence& old : found) {
    const PatternOccurrence occurrence = rewriter.updated(old);
    KERF_TRY(const Graph made, replacement(occurrence, graph, pattern));
    KERF_CHECK(checkReplacement(pattern, made));
    KERF_TRY(auto match, rewriter.replace(occurrence, made));
    out.push_back(std::move(match));
  }
  return out;
}

}  // namespace kerf::inline ir
