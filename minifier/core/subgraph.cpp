// Cutting pieces out of a candidate, on top of CandidateEditor.
#include "minifier/core/subgraph.h"

#include <algorithm>

#include "engine/ops/core/purity.h"
#include "minifier/core/candidate.h"
#include "minifier/core/candidate_editor.h"

namespace kerf::inline minifier::inline core {

namespace {

bool isCallOp(const Node& node) {
  return node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod || node.op() == Opcode::CallModule;
}

/// A tuple is only useful through its items, so they go with it.
NodeSet withItems(const Graph& graph, const std::vector<NodeId>& kept) {
  NodeSet all(kept.begin(), kept.end());
  for (NodeId id : kept) {
    for (NodeId user : graph.node(id).users()) {
      if (graph.node(user).isCall("operator.getitem"_op)) all.insert(user);
    }
  }
  return all;
}

bool makesSeveralValues(const Node& node) { return node.meta().value.list() != nullptr; }

/// A call that is there for what it does and not for its value: a copy_ that nobody reads.
bool isEffect(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return isCallOp(node) && node.users().empty() && purityOf(node) == Purity::Impure;
}

/// Whether something without an output is left to look at: what calls write into inputs and buffers.
template <class Keeps>
bool hasEffects(const Graph& graph, const Keeps& keeps) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    return isCallOp(graph.node(id)) && purityOf(graph.node(id)) == Purity::Impure && keeps(id);
  });
}

bool isNeededOutside(const Graph& graph, NodeId id, const NodeSet& inside) {
  const Node& node = graph.node(id);
  if (makesSeveralValues(node) || isEffect(graph, id)) return false;
  return node.users().empty() || std::ranges::any_of(node.users(), [&](NodeId user) { return !inside.contains(user); });
}

/// Makes `nodes` placeholders; false if one of them has no recorded value or cannot be cut.
bool cutAll(CandidateEditor& editor, const std::vector<NodeId>& nodes, RecordedValues& values) {
  return std::ranges::all_of(nodes, [&](NodeId id) {
    if (!editor.graph().contains(id)) return true;  // an item, which went with its tuple
    const Value* value = values.find(id);
    return value && editor.cut(id, *value);
  });
}

std::vector<NodeId> outsideOperands(const Graph& graph, const NodeSet& kept) {
  std::vector<NodeId> operands;
  NodeSet seen;
  for (NodeId id : graph.order()) {
    if (!kept.contains(id)) continue;
    for (NodeId operand : graph.node(id).inputs()) {
      if (!kept.contains(operand) && isCallOp(graph.node(operand)) && seen.insert(operand).second)
        operands.push_back(operand);
    }
  }
  return operands;
}

/// Outputs that stay when `removed` go; if none does, the values that fed the removed nodes. A graph that returns
/// nothing goes on doing so while it has effects.
std::vector<NodeId> remainingOutputs(const Graph& graph, const NodeSet& removed) {
  std::vector<NodeId> outputs = returnedNodes(graph);
  const bool returnsNothing = outputs.empty();
  std::erase_if(outputs, [&](NodeId id) { return removed.contains(id); });
  if (!outputs.empty()) return outputs;
  if (returnsNothing && hasEffects(graph, [&](NodeId id) { return !removed.contains(id); })) return outputs;
  for (NodeId id : callNodes(graph)) {
    if (removed.contains(id) || makesSeveralValues(graph.node(id))) continue;
    const auto& users = graph.node(id).users();
    if (std::ranges::any_of(users, [&](NodeId user) { return removed.contains(user); })) outputs.push_back(id);
  }
  return outputs;
}

}  // namespace

std::vector<NodeId> callNodes(const Graph& graph) {
  std::vector<NodeId> calls;
  for (NodeId id : graph.order()) {
    if (isCallOp(graph.node(id))) calls.push_back(id);
  }
  return calls;
}

std::optional<Candidate> keepOnly(const ReductionInput& input, const std::vector<NodeId>& kept) {
  const Graph& graph = input.graph();
  const NodeSet inside = withItems(graph, kept);
  std::vector<NodeId> outputs;
  for (NodeId id : graph.order()) {
    if (inside.contains(id) && isNeededOutside(graph, id, inside)) outputs.push_back(id);
  }
  CandidateEditor editor(input.candidate);
  editor.setOutputs(outputs);
  if (!cutAll(editor, outsideOperands(graph, inside), input.values)) return std::nullopt;
  std::erase_if(outputs, [&](NodeId id) { return !editor.graph().contains(id); });
  if (outputs.empty() && !hasEffects(graph, [&](NodeId id) { return inside.contains(id); })) return std::nullopt;
  editor.setOutputs(outputs);
  return editor.finish([&](const Node& node) { return inside.contains(node.id()); });
}

std::optional<Candidate> removeNodes(const ReductionInput& input, const std::vector<NodeId>& removed) {
  const Graph& graph = input.graph();
  const NodeSet gone(removed.begin(), removed.end());
  const std::vector<NodeId> outputs = remainingOutputs(graph, gone);
  const bool effects = hasEffects(graph, [&](NodeId id) { return !gone.contains(id); });
  if (outputs.empty() && !effects) return std::nullopt;
  const NodeId output = graph.outputNode();
  std::vector<NodeId> stillUsed;
  for (NodeId id : removed) {
    const auto& users = graph.node(id).users();
    const auto needs = [&](NodeId user) { return user != output && !gone.contains(user); };
    if (std::ranges::any_of(users, needs)) stillUsed.push_back(id);
  }
  CandidateEditor editor(input.candidate);
  editor.setOutputs(outputs);
  if (!cutAll(editor, stillUsed, input.values)) return std::nullopt;
  std::vector<NodeId> returned = returnedNodes(editor.graph());
  std::erase_if(returned, [&](NodeId id) { return editor.graph().node(id).op() == Opcode::Placeholder; });
  if (returned.empty() && !effects) return std::nullopt;
  editor.setOutputs(returned);
  return editor.finish([&](const Node& node) { return !gone.contains(node.id()) && purityOf(node) == Purity::Impure; });
}

}  // namespace kerf::inline minifier::inline core
