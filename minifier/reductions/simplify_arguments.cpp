// simplify_arguments: one operand at a time, by the schema's word on what may be absent.
#include "minifier/reductions/simplify_arguments.h"

#include "engine/ops/core/op_registry.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/core/subgraph.h"

namespace kerf::inline minifier::inline reductions {

namespace {

std::optional<Candidate> withArgument(const ReductionInput& input, NodeId call, std::size_t index, Argument value) {
  CandidateEditor editor(input.candidate);
  ArgumentList args = editor.graph().node(call).args();
  args[index] = std::move(value);
  editor.graph().setArgs(call, std::move(args));
  return editor.finishWithShapes();
}

void addShorterLists(const ReductionInput& input, NodeId call, std::size_t index, std::vector<Edit>& list) {
  const ListArgument* items = input.graph().node(call).args()[index].asList();
  if (!items || items->items.size() < 2) return;
  for (std::size_t drop = items->items.size(); drop-- > 0;) {
    if (!items->items[drop].as<NodeId>()) continue;
    ListArgument shorter = *items;
    shorter.items.erase(shorter.items.begin() + std::ptrdiff_t(drop));
    list.push_back({{}, [&input, call, index, shorter] { return withArgument(input, call, index, shorter); }});
  }
}

std::vector<Edit> edits(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  for (NodeId call : callNodes(input.graph())) {
    const Node& node = input.graph().node(call);
    const OpInfo* op = findOp(node);
    if (!op) continue;
    for (std::size_t i = 0; i < node.args().size() && i < op->schema.arguments.size(); ++i) {
      if (node.args()[i].as<NodeId>() && op->schema.arguments[i].type == "Tensor?")
        list.push_back({{}, [&input, call, i] { return withArgument(input, call, i, Argument()); }});
      addShorterLists(input, call, i, list);
    }
  }
  return list;
}

}  // namespace

Reduction simplifyArguments() { return {"simplify_arguments", "Leaves out optional operands and list items.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
