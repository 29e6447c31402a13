// shrink_inputs: each dimension size to 1, else to its half; data is what the inputs' first elements were.
#include "minifier/reductions/shrink_inputs.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "engine/tensor/copy.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/core/subgraph.h"

namespace kerf::inline minifier::inline reductions {

namespace {

/// Strides without holes, in the order of the old ones; expanded dimensions stay expanded.
Sizes denseStrides(const Sizes& sizes, const Sizes& oldStrides) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t axis) { return std::pair(-oldStrides[axis], axis); });
  Sizes strides(sizes.size(), 0);
  std::int64_t next = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t axis = order[i];
    if (oldStrides[axis] == 0 && sizes[axis] > 1) continue;
    strides[axis] = next;
    next *= std::max<std::int64_t>(1, sizes[axis]);
  }
  return strides;
}

std::optional<Tensor> shrunk(const Tensor& tensor, std::int64_t from, std::int64_t to) {
  Sizes sizes = tensor.sizes();
  std::ranges::replace(sizes, from, to);
  const Tensor corner = tensor.viewAs(sizes, tensor.strides(), tensor.offset());
  const Sizes strides = denseStrides(sizes, tensor.strides());
  if (std::ranges::any_of(strides, [](std::int64_t stride) { return stride == 0; })) return std::nullopt;
  Result<Tensor> result = Tensor::zerosStrided(tensor.dtype(), sizes, strides);
  if (!result || !copyElements(corner, *result)) return std::nullopt;
  result->setDevice(tensor.device());
  return *result;
}

Argument withSize(const Argument& argument, std::int64_t from, std::int64_t to) {
  const ListArgument* list = argument.asList();
  if (!list) return argument;
  ListArgument result = *list;
  for (Argument& item : result.items) {
    const auto* number = item.as<std::int64_t>();
    if (number && *number == from) item = to;
  }
  return result;
}

void renameSizes(Graph& graph, std::int64_t from, std::int64_t to) {
  for (NodeId call : callNodes(graph)) {
    ArgumentList args = graph.node(call).args();
    for (Argument& argument : args) argument = withSize(argument, from, to);
    if (args != graph.node(call).args()) graph.setArgs(call, std::move(args));
  }
}

std::optional<Candidate> shrink(const ReductionInput& input, std::int64_t from, std::int64_t to, bool inCalls) {
  CandidateEditor editor(input.candidate);
  for (NodeId id : editor.graph().placeholders()) {
    const Value* value = editor.input(id);
    if (!value || !value->isTensor() || !value->tensor().defined()) continue;
    if (std::ranges::find(value->tensor().sizes(), from) == value->tensor().sizes().end()) continue;
    std::optional<Tensor> smaller = shrunk(value->tensor(), from, to);
    if (!smaller) return std::nullopt;
    editor.setInput(id, std::move(*smaller));
  }
  if (inCalls) renameSizes(editor.graph(), from, to);
  return editor.finishWithShapes();
}

std::set<std::int64_t, std::greater<>> inputSizes(const Candidate& candidate) {
  std::set<std::int64_t, std::greater<>> sizes;
  for (const Value& value : candidate.inputs) {
    if (!value.isTensor() || !value.tensor().defined()) continue;
    for (std::int64_t size : value.tensor().sizes()) {
      if (size > 1) sizes.insert(size);
    }
  }
  return sizes;
}

std::vector<Edit> edits(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  const auto add = [&](std::int64_t from, std::int64_t to) {
    for (bool inCalls : {true, false})
      list.push_back({{}, [&input, from, to, inCalls] { return shrink(input, from, to, inCalls); }});
  };
  for (std::int64_t size : inputSizes(input.candidate)) {
    add(size, 1);
    if (size > 3) add(size, size / 2);
  }
  return list;
}

}  // namespace

Reduction shrinkInputs() { return {"shrink_inputs", "Makes a dimension of the inputs smaller.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
