// shrink_dims: all dimensions to 1 at once; then class by class, from 1 upwards by halving.
#include "minifier/reductions/shrink_dims.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "engine/ops/core/graph_symbols.h"
#include "engine/ops/core/op_registry.h"
#include "engine/symbolic/shape_env.h"
#include "engine/tensor/copy.h"
#include "minifier/core/call_units.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/reductions/dim_classes.h"
#include "minifier/reductions/smaller_values.h"

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

/// The first elements in each dimension.
std::optional<Tensor> corner(const Tensor& tensor, const Sizes& sizes) {
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > tensor.sizes()[d] || sizes[d] < 0) return std::nullopt;
  const Tensor view = tensor.viewAs(sizes, tensor.strides(), tensor.offset());
  const Sizes strides = denseStrides(sizes, tensor.strides());
  if (std::ranges::any_of(strides, [](std::int64_t stride) { return stride == 0; })) return std::nullopt;
  Result<Tensor> result = Tensor::zerosStrided(tensor.dtype(), sizes, strides);
  if (!result || !copyElements(view, *result)) return std::nullopt;
  result->setDevice(tensor.device());
  result->requiresGrad = tensor.requiresGrad;
  result->isLeaf = tensor.isLeaf;
  return *result;
}

/// A size in a call's arguments; none: it stays.
using NewSize = std::function<std::optional<std::int64_t>(std::int64_t)>;

Argument resized(const Argument& argument, const NewSize& newSize) {
  if (const auto* number = argument.as<std::int64_t>()) {
    const auto size = newSize(*number);
    return size ? Argument(*size) : argument;
  }
  const ListArgument* list = argument.asList();
  if (!list) return argument;
  ListArgument result = *list;
  for (Argument& item : result.items) item = resized(item, newSize);
  return result;
}

/// Sizes are what a schema calls SymInt; without one, numbers in lists.
void resizeCalls(Graph& graph, const NewSize& newSize) {
  for (const NodeId call : callNodes(graph)) {
    const OpInfo* op = findOp(graph.node(call));
    ArgumentList args = graph.node(call).args();
    for (std::size_t i = 0; i < args.size(); ++i) {
      const bool known = op && i < op->schema.arguments.size();
      const bool isSize =
          known ? op->schema.arguments[i].type.starts_with("SymInt") || args[i].asList() : args[i].asList() != nullptr;
      if (isSize) args[i] = resized(args[i], newSize);
    }
    if (args != graph.node(call).args()) graph.setArgs(call, std::move(args));
  }
}

/// Sizes to set, by input and dimension.
struct Resizing {
  std::vector<std::pair<DimClass::Place, std::int64_t>> places;
  NewSize inCalls;  ///< null: the calls stay
};

std::optional<Candidate> resizedCandidate(const Candidate& candidate, const Resizing& resizing) {
  CandidateEditor editor(candidate);
  const std::vector<NodeId> placeholders = editor.graph().placeholders();
  std::map<std::size_t, Sizes> sizes;
  for (const auto& [place, size] : resizing.places) {
    const auto [entry, isNew] = sizes.try_emplace(place.input, candidate.inputs[place.input].tensor().sizes());
    entry->second[place.dim] = size;
  }
  for (const auto& [input, wanted] : sizes) {
    std::optional<Tensor> smaller = corner(candidate.inputs[input].tensor(), wanted);
    if (!smaller) return std::nullopt;
    editor.setInput(placeholders[input], std::move(*smaller));
  }
  if (resizing.inCalls) resizeCalls(editor.graph(), resizing.inCalls);
  return editor.finishWithShapes();
}

std::optional<Candidate> allOne(const Candidate& candidate, const NewSize& inCalls) {
  Resizing resizing{.inCalls = inCalls};
  for (std::size_t i = 0; i < candidate.inputs.size(); ++i) {
    const Value& value = candidate.inputs[i];
    if (!value.isTensor() || !value.tensor().defined()) continue;
    for (std::size_t d = 0; d < value.tensor().sizes().size(); ++d)
      if (value.tensor().sizes()[d] > 1) resizing.places.push_back({{i, d, {}}, 1});
  }
  if (resizing.places.empty()) return std::nullopt;
  return resizedCandidate(candidate, resizing);
}

std::optional<Candidate> shrunk(const Candidate& candidate, const DimClass& dims, std::int64_t size, bool inCalls) {
  Resizing resizing;
  for (const DimClass::Place& place : dims.places) {
    const auto value =
        dims.symbol.empty() ? Result<std::int64_t>(size) : evaluateSize(place.size, {{dims.symbol, size}});
    if (!value) return std::nullopt;
    resizing.places.emplace_back(place, *value);
  }
  if (inCalls)
    resizing.inCalls = [from = dims.present, size](std::int64_t number) {
      return number == from ? std::optional(size) : std::nullopt;
    };
  return resizedCandidate(candidate, resizing);
}

std::vector<Edit> edits(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  const bool hasDims = std::ranges::any_of(input.candidate.inputs, [](const Value& value) {
    return value.isTensor() && value.tensor().defined() &&
           std::ranges::any_of(value.tensor().sizes(), [](std::int64_t size) { return size > 1; });
  });
  if (!hasDims) return list;
  list.push_back({{}, [&input] { return allDimsOne(input.candidate); }});
  list.push_back({{}, [&input] { return allOne(input.candidate, {}); }});
  const auto classes = std::make_shared<std::vector<DimClass>>(dimClasses(input.candidate));
  for (std::size_t i = 0; i < classes->size(); ++i)
    for (const std::int64_t size : smallerValues(1, (*classes)[i].present))
      for (const bool inCalls : {true, false})
        list.push_back({{}, [&input, classes, i, size, inCalls] {
                          return shrunk(input.candidate, (*classes)[i], size, inCalls);
                        }});
  return list;
}

}  // namespace

std::optional<Candidate> allDimsOne(const Candidate& candidate) {
  return allOne(candidate,
                [](std::int64_t number) { return number > 1 ? std::optional<std::int64_t>(1) : std::nullopt; });
}

Reduction shrinkDims() { return {"shrink_dims", "Makes a dimension of the inputs smaller.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
