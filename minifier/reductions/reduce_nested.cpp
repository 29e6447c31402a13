// reduce_nested: every call of every nested graph, from the end, every operand; graphs nested in those are left to
// flatten_graphs.
#include "minifier/reductions/reduce_nested.h"

#include <algorithm>

#include "engine/ops/core/purity.h"
#include "minifier/core/call_units.h"
#include "minifier/core/candidate_editor.h"

namespace kerf::inline minifier::inline reductions {

namespace {

std::optional<Candidate> bypassed(const ReductionInput& input, const std::string& path, NodeId call, NodeId operand) {
  CandidateEditor editor(input.candidate);
  for (auto& [name, submodule] : editor.module().submodules.edit()) {
    if (name != path) continue;
    GraphModule body = *submodule.graph;
    body.graph.replaceAllUsesWith(call, operand);
    if (!body.graph.eraseNode(call)) return std::nullopt;
    body.graph.eliminateDeadCode([](const Node& node) { return purityOf(node) != Purity::Pure; });
    submodule.graph = std::make_shared<const GraphModule>(std::move(body));
  }
  return editor.finishWithShapes();
}

std::vector<Edit> editsThatReduceNested(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  std::vector<std::string> seen;
  for (const NodeId caller : callNodes(input.graph())) {
    for (const NestedGraph& nested : nestedGraphs(input.candidate.module, input.graph().node(caller))) {
      if (std::ranges::find(seen, nested.path) != seen.end()) continue;
      seen.push_back(nested.path);
      std::vector<NodeId> calls = callNodes(nested.graph->graph);
      std::ranges::reverse(calls);
      for (const NodeId call : calls)
        for (const NodeId operand : nested.graph->graph.node(call).inputs())
          list.push_back(
              {{}, [&input, path = nested.path, call, operand] { return bypassed(input, path, call, operand); }});
    }
  }
  return list;
}

}  // namespace

Reduction reduceNested() {
  return {"reduce_nested", "Replaces a call inside a nested graph by one of its operands.", editsThatReduceNested};
}

}  // namespace kerf::inline minifier::inline reductions
