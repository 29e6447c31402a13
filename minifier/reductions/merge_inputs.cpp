// merge_inputs: those that look alike first, then whatever the calls accept.
#include "minifier/reductions/merge_inputs.h"

#include <algorithm>

#include "minifier/core/candidate_editor.h"
#include "minifier/core/tensor_like.h"

namespace kerf::inline minifier::inline reductions {

namespace {

bool alike(const Node& a, const Node& b) { return looksAlike(a.meta().value, b.meta().value); }

bool haveOneDtype(const Node& a, const Node& b) {
  const TensorMeta* x = a.meta().value.tensor();
  const TensorMeta* y = b.meta().value.tensor();
  return x && y && x->dtype == y->dtype && x->device == y->device;
}

std::optional<Candidate> merged(const Candidate& candidate, NodeId gone, NodeId into) {
  CandidateEditor editor(candidate);
  const bool same = alike(candidate.module.graph.node(gone), candidate.module.graph.node(into));
  editor.graph().replaceAllUsesWith(gone, into);
  if (same) return editor.finish();
  return editor.finishWithShapes();
}

std::vector<Edit> edits(const ReductionInput& input, ResumePoint) {
  constexpr std::size_t few = 12;  // of these every pair is tried
  std::vector<Edit> list;
  const Graph& graph = input.graph();
  const std::vector<NodeId> placeholders = graph.placeholders();
  const auto add = [&](NodeId gone, NodeId into) {
    list.push_back({{}, [&input, gone, into] { return merged(input.candidate, gone, into); }});
  };
  for (std::size_t i = placeholders.size(); i-- > 1;) {
    const auto first = std::ranges::find_if(
        placeholders, [&](NodeId other) { return alike(graph.node(other), graph.node(placeholders[i])); });
    if (*first != placeholders[i]) add(placeholders[i], *first);
  }
  for (std::size_t i = placeholders.size(); placeholders.size() <= few && i-- > 0;)
    for (const NodeId other : placeholders)
      if (other != placeholders[i] && haveOneDtype(graph.node(other), graph.node(placeholders[i])))
        add(placeholders[i], other);
  return list;
}

}  // namespace

std::optional<Candidate> allInputsMerged(const Candidate& candidate) {
  std::optional<Candidate> result;
  for (bool changed = true; std::exchange(changed, false);) {
    const Candidate& now = result ? *result : candidate;
    const std::vector<NodeId> placeholders = now.module.graph.placeholders();
    for (std::size_t i = placeholders.size(); !changed && i-- > 1;) {
      for (std::size_t k = 0; !changed && k < i; ++k) {
        if (!haveOneDtype(now.module.graph.node(placeholders[i]), now.module.graph.node(placeholders[k]))) continue;
        auto fewer = merged(now, placeholders[i], placeholders[k]);
        if (!fewer) continue;
        result = std::move(fewer);
        changed = true;
      }
    }
  }
  return result;
}

Reduction mergeInputs() { return {"merge_inputs", "Makes one input of two.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
