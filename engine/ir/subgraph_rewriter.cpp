#include "engine/ir/subgraph_rewriter.h"

#include <algorithm>

namespace kerf::inline ir {
namespace {

std::vector<NodeId> returnedNodes(const Argument& value) {
  std::vector<NodeId> out;
  forEachNode(value, [&](NodeId id) { out.push_back(id); });
  return out;
}

class Rewriter {
 public:
  Rewriter(Graph& graph, const Graph& pattern, const Graph& replacement)
      : m_graph(graph), m_pattern(pattern), m_replacement(replacement) {}

  Result<void> check() const {
    if (!m_replacement.outputNode().valid()) return fail(ErrorCode::BadUsage, "the replacement returns nothing");
    if (m_pattern.placeholders().size() != m_replacement.placeholders().size())
      return fail(ErrorCode::BadUsage, "the pattern takes {} inputs but the replacement {}",
                  m_pattern.placeholders().size(), m_replacement.placeholders().size());
    const auto wildcards = m_pattern.placeholders();
    const auto inputs = m_replacement.placeholders();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (m_pattern.node(wildcards[i]).users().empty() && !m_replacement.node(inputs[i]).users().empty())
        return fail(ErrorCode::BadUsage, "the replacement uses input '{}', which the pattern does not determine",
                    m_replacement.node(inputs[i]).name());
    const std::size_t wanted = outputs(m_pattern).size();
    const std::size_t given = outputs(m_replacement).size();
    if (wanted == given) return {};
    return fail(ErrorCode::BadUsage, "the pattern returns {} values but the replacement {}", wanted, given);
  }

  Result<PatternMatch> replace(PatternNodes nodes) {
    PatternMatch match;
    for (auto& [patternNode, node] : nodes) node = current(node);
    match.nodes = nodes;
    std::vector<NodeId> matched = matchedNodes(nodes);
    const Argument value = insertReplacement(nodes, matched, match.replacements);
    const std::vector<NodeId> old = outputs(m_pattern);
    const std::vector<NodeId> fresh = returnedNodes(value);
    for (std::size_t i = 0; i < old.size(); ++i) redirect(nodes.at(old[i]), fresh[i], match.replacements);
    // users before their inputs
    for (auto id = matched.rbegin(); id != matched.rend(); ++id) KERF_CHECK(m_graph.eraseNode(*id));
    KERF_CHECK(m_graph.topologicalSort());
    return match;
  }

 private:
  static std::vector<NodeId> outputs(const Graph& graph) {
    return returnedNodes(graph.node(graph.outputNode()).args().front());
  }

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

  Argument insertReplacement(const PatternNodes& nodes, const std::vector<NodeId>& matched,
                             std::vector<NodeId>& created) {
    std::unordered_map<NodeId, NodeId> map;
    const auto wildcards = m_pattern.placeholders();
    const auto inputs = m_replacement.placeholders();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto bound = nodes.find(wildcards[i]);
      map[inputs[i]] = bound == nodes.end() ? NodeId{} : bound->second;
    }
    const InsertionScope scope(m_graph, InsertionScope::Where::After, matched.back());
    const Argument value = m_graph.copyFrom(m_replacement, map);
    for (const NodeId id : m_replacement.order()) {
      const Node& node = m_replacement.node(id);
      if (node.op() != Opcode::Placeholder && node.op() != Opcode::Output) created.push_back(map.at(id));
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
  const Graph& m_replacement;
  std::unordered_map<NodeId, NodeId> m_replaced;
};

}  // namespace

Result<std::vector<PatternMatch>> replacePattern(Graph& graph, const Graph& pattern, const Graph& replacement) {
  KERF_TRY(auto found, findPattern(graph, pattern));
  Rewriter rewriter(graph, pattern, replacement);
  KERF_CHECK(rewriter.check());
  std::vector<PatternMatch> out;
  for (PatternNodes& nodes : found) {
    KERF_TRY(auto match, rewriter.replace(std::move(nodes)));
    out.push_back(std::move(match));
  }
  return out;
}

}  // namespace kerf::inline ir
