// bypass_operand: every call from the end to the start, every fitting operand.
#include "minifier/reductions/bypass_operand.h"

#include <algorithm>

#include "minifier/core/candidate.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/core/subgraph.h"

namespace kerf::inline minifier::inline reductions {

namespace {

bool fits(const Node& node, const Node& operand) {
  const TensorMeta* x = node.meta().value.tensor();
  const TensorMeta* y = operand.meta().value.tensor();
  return x && y && x->dtype == y->dtype && x->sizes == y->sizes && x->device == y->device;
}

/// Returning an input as it is tests nothing.
bool returnsCallsOnly(const Graph& graph) {
  return std::ranges::none_of(returnedNodes(graph), [&](NodeId id) {
    return graph.node(id).op() == Opcode::Placeholder || graph.node(id).op() == Opcode::GetAttr;
  });
}

std::optional<Candidate> bypass(const ReductionInput& input, NodeId call, NodeId operand) {
  CandidateEditor editor(input.candidate);
  Graph& graph = editor.graph();
  const bool sameStrides =
      graph.node(call).meta().value.tensor()->strides == graph.node(operand).meta().value.tensor()->strides;
  graph.replaceAllUsesWith(call, operand);
  if (!returnsCallsOnly(graph)) return std::nullopt;
  (void)graph.eraseNode(call);
  if (sameStrides) return editor.finish();
  return editor.finishWithShapes();
}

std::vector<Edit> edits(const ReductionInput& input, ResumePoint resume) {
  std::vector<Edit> list;
  std::vector<NodeId> calls = callNodes(input.graph());
  std::ranges::reverse(calls);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::size_t position = (resume.position + i) % calls.size();
    const Node& node = input.graph().node(calls[position]);
    for (NodeId operand : node.inputs()) {
      if (!fits(node, input.graph().node(operand))) continue;
      list.push_back({{0, position}, [&input, call = node.id(), operand] { return bypass(input, call, operand); }});
    }
  }
  return list;
}

}  // namespace

Reduction bypassOperand() {
  return {"bypass_operand", "Replaces a call by an operand of the same shape and dtype.", edits};
}

}  // namespace kerf::inline minifier::inline reductions
