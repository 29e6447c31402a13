// merge_inputs: every placeholder from the last to the second, into the first that looks alike.
#include "minifier/reductions/merge_inputs.h"

#include <algorithm>

#include "minifier/core/candidate_editor.h"

namespace kerf::inline minifier::inline reductions {

namespace {

bool alike(const Node& a, const Node& b) {
  const TensorMeta* x = a.meta().value.tensor();
  const TensorMeta* y = b.meta().value.tensor();
  return x && y && x->dtype == y->dtype && x->sizes == y->sizes && x->strides == y->strides && x->device == y->device;
}

std::vector<Edit> edits(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  const Graph& graph = input.graph();
  const std::vector<NodeId> placeholders = graph.placeholders();
  for (std::size_t i = placeholders.size(); i-- > 1;) {
    const auto first = std::ranges::find_if(
        placeholders, [&](NodeId other) { return alike(graph.node(other), graph.node(placeholders[i])); });
    if (first == placeholders.end() || *first == placeholders[i]) continue;
    list.push_back({{}, [&input, merged = placeholders[i], into = *first]() -> std::optional<Candidate> {
                      CandidateEditor editor(input.candidate);
                      editor.graph().replaceAllUsesWith(merged, into);
                      return editor.finish();
                    }});
  }
  return list;
}

}  // namespace

Reduction mergeInputs() { return {"merge_inputs", "Makes one input of two that look alike.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
