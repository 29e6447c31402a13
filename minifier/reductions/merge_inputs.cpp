// merge_inputs: those that look alike first, then whatever the calls accept, then what a call makes.
#include "minifier/reductions/simplify_all.h"

#include <algorithm>
#include <set>

#include "minifier/core/call_units.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/core/recorded_values.h"
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
  return editor.finishFitted();
}

bool writesAnything(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) { return !writtenBy(graph.node(id)).empty(); });
}

/// `node` and what it is computed from, placeholders too.
std::set<NodeId> sourcesOf(const Graph& graph, NodeId node) {
  std::set<NodeId> sources{node};
  std::vector<NodeId> open{node};
  while (!open.empty()) {
    const NodeId next = open.back();
    open.pop_back();
    for (const NodeId operand : graph.node(next).inputs())
      if (sources.insert(operand).second) open.push_back(operand);
  }
  return sources;
}

/// A call's value in place of an input; the call and what it is computed from go in front.
std::optional<Candidate> fedBy(const Candidate& candidate, NodeId gone, NodeId call) {
  CandidateEditor editor(candidate);
  Graph& graph = editor.graph();
  const std::set<NodeId> sources = sourcesOf(graph, call);
  const std::vector<NodeId> calls = callNodes(graph);
  const auto anchor = std::ranges::find_if(calls, [&](NodeId id) { return !sources.contains(id); });
  if (anchor == calls.end()) return std::nullopt;  // only the output takes the input
  for (const NodeId id : calls)
    if (sources.contains(id)) graph.moveBefore(id, *anchor);
  graph.replaceAllUsesWith(gone, call);
  return editor.finishFitted();
}

const TensorMeta* tensorOf(const Graph& graph, NodeId id) { return graph.node(id).meta().value.tensor(); }

constexpr std::size_t fewInputs = 4;

/// Of few inputs also: one of float32 in place of one of another dtype, and what a call makes in place of one.
void addUnlike(const ReductionInput& input, std::vector<Edit>& list) {
  const Graph& graph = input.graph();
  const std::vector<NodeId> placeholders = graph.placeholders(), calls = callNodes(graph);
  const bool mayReorder = calls.size() <= fewCalls && !writesAnything(graph);
  for (const NodeId gone : placeholders) {
    const TensorMeta* meta = tensorOf(graph, gone);
    const auto fits = [&](NodeId other, DType dtype) {
      const TensorMeta* own = tensorOf(graph, other);
      return meta && own && own->dtype == dtype && own->device == meta->device;
    };
    for (const NodeId into : placeholders)
      if (fits(into, DType::Float32) && meta->dtype != DType::Float32)
        list.push_back({{}, [&input, gone, into] { return merged(input.candidate, gone, into); }});
    for (const NodeId call : calls)
      if (mayReorder && meta && fits(call, meta->dtype) && !sourcesOf(graph, call).contains(gone))
        list.push_back({{}, [&input, gone, call] { return fedBy(input.candidate, gone, call); }});
  }
}

std::vector<Edit> editsThatMergeInputs(const ReductionInput& input, ResumePoint) {
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
  if (placeholders.size() > 1 && placeholders.size() <= fewInputs) addUnlike(input, list);
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

Reduction mergeInputs() {
  return {"merge_inputs", "Makes one input of two, or takes what a call makes for one.", editsThatMergeInputs};
}

}  // namespace kerf::inline minifier::inline reductions
