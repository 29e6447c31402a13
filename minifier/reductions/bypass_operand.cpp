// bypass_operand: every call from the end to the start; what takes most calls away first.
#include "minifier/reductions/bypass_operand.h"

#include <algorithm>
#include <unordered_set>

#include "minifier/core/call_units.h"
#include "minifier/core/candidate.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/core/tensor_like.h"

namespace kerf::inline minifier::inline reductions {

namespace {

bool isTensor(const Graph& graph, NodeId id) { return graph.node(id).meta().value.tensor() != nullptr; }

bool isAlike(const Graph& graph, NodeId a, NodeId b) {
  return looksAlike(graph.node(a).meta().value, graph.node(b).meta().value);
}

/// Returning an input as it is tests nothing.
bool returnsCallsOnly(const Graph& graph) {
  return std::ranges::all_of(returnedNodes(graph), [&](NodeId id) { return isCallNode(graph.node(id)); });
}

std::optional<Candidate> finished(CandidateEditor& editor, bool sameShapes) {
  if (!returnsCallsOnly(editor.graph())) return std::nullopt;
  if (sameShapes) return editor.finish();
  return editor.finishFitted();
}

std::optional<Candidate> bypass(const ReductionInput& input, NodeId call, NodeId operand) {
  CandidateEditor editor(input.candidate);
  editor.graph().replaceAllUsesWith(call, operand);
  if (!editor.graph().eraseNode(call)) return std::nullopt;
  return finished(editor, isAlike(input.graph(), call, operand));
}

std::optional<Candidate> rewire(const ReductionInput& input, NodeId user, NodeId operand, NodeId earlier) {
  CandidateEditor editor(input.candidate);
  editor.graph().replaceInput(user, operand, earlier);
  return finished(editor, isAlike(input.graph(), operand, earlier));
}

/// Calls that `node` is computed from, the farthest first; some of them where there are many.
std::vector<NodeId> ancestors(const Graph& graph, NodeId node) {
  std::vector<NodeId> found{node};
  std::unordered_set<NodeId> seen{node};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const NodeId operand : graph.node(found[i]).inputs())
      if (isCallNode(graph.node(operand)) && seen.insert(operand).second) found.push_back(operand);
  std::vector<NodeId> some;
  for (std::size_t distance = found.size(); distance-- > 1;) {
    some.push_back(found[distance]);
    if (distance > 8) distance -= distance / 4;
  }
  return some;
}

std::vector<Edit> editsThatBypassOperand(const ReductionInput& input, ResumePoint resume) {
  const Graph& graph = input.graph();
  std::vector<Edit> list;
  std::vector<NodeId> calls = callNodes(graph);
  std::ranges::reverse(calls);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::size_t position = (resume.position + i) % calls.size();
    const NodeId call = calls[position];
    for (const NodeId operand : graph.node(call).inputs()) {
      if (!isTensor(graph, operand) || !isCallNode(graph.node(operand))) continue;
      for (const NodeId earlier : ancestors(graph, operand))
        if (isTensor(graph, earlier))
          list.push_back(
              {{position}, [&input, call, operand, earlier] { return rewire(input, call, operand, earlier); }});
    }
    for (const NodeId operand : graph.node(call).inputs())
      if (isTensor(graph, call) && isTensor(graph, operand))
        list.push_back({{position}, [&input, call, operand] { return bypass(input, call, operand); }});
  }
  return list;
}

}  // namespace

Reduction bypassOperand() {
  return {"bypass_operand", "Replaces a call by an operand, or an operand by what came before it.",
          editsThatBypassOperand};
}

}  // namespace kerf::inline minifier::inline reductions
