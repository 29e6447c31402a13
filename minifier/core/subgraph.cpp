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

bool isNeededOutside(const Graph& graph, NodeId id, const NodeSet& inside) {
  const Node& node = graph.node(id);
  if (makesSeveralValues(node)) return false;
  return node.users().empty() || std::ranges::any_of(node.users(), [&](NodeId user) { return !inside.contains(user); });
}

/// Makes `nodes` placeholders; false if one of them has no recorded value or cannot be cut.
bool cutAll(CandidateEditor& editor, const std::vector<NodeId>& nodes, RecordedValues& values) {
  return std::ranges::all_of(nodes, [&](NodeId id) {
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

/// Outputs that stay when `removed` go; if none does, the values that fed the removed nodes.
std::vector<NodeId> remainingOutputs(const Graph& graph, const NodeSet& removed) {
  std::vector<NodeId> outputs = returnedNodes(graph);
  std::erase_if(outputs, [&](NodeId id) { return removed.contains(id); });
  if (!outputs.empty()) return outputs;
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
  if (outputs.empty()) return std::nullopt;
  editor.setOutputs(outputs);
  return editor.finish([&](const Node& node) { return inside.contains(node.id()); });
}

std::optional<Candidate> removeNodes(const ReductionInput& input, const std::vector<NodeId>& removed) {
  const Graph& graph = input.graph();
  const NodeSet gone(removed.begin(), removed.end());
  const std::vector<NodeId> outputs = remainingOutputs(graph, gone);
  if (outputs.empty()) return std::nullopt;
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
  if (returned.empty()) return std::nullopt;
  editor.setOutputs(returned);
  return editor.finish([&](const Node& node) { return !gone.contains(node.id()) && purityOf(node) == Purity::Impure; });
}

}  // namespace kerf::inline minifier::inline core
