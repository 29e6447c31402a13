// shrink_dims: class by class, from 1 upwards by halving.
#include "minifier/reductions/simplify_all.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "engine/ops/core/graph_symbols.h"
#include "engine/symbolic/shape_env.h"
#include "minifier/core/call_slots.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/core/tensor_like.h"
#include "minifier/reductions/dim_classes.h"
#include "minifier/reductions/drop_dims.h"
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
  std::vector<std::pair<CallSlot, Argument>> changes;
  forEachSlot(graph, [&](const CallSlot& slot, const Argument& argument, const SchemaArgument* schema) {
    const bool isSize = schema ? schema->type.starts_with("SymInt") : argument.asList() != nullptr;
    Argument changed = isSize ? resized(argument, newSize) : argument;
    if (!(changed == argument)) changes.emplace_back(slot, std::move(changed));
  });
  for (const auto& [slot, argument] : changes) setArgument(graph, slot, argument);
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
    const Tensor& tensor = candidate.inputs[input].tensor();
    std::optional<Tensor> smaller = corner(tensor, wanted, denseStrides(wanted, tensor.strides()));
    if (!smaller) return std::nullopt;
    editor.setInput(placeholders[input], std::move(*smaller));
  }
  if (resizing.inCalls) resizeCalls(editor.graph(), resizing.inCalls);
  return editor.finishWithShapes();
}

std::optional<Candidate> allOne(const Candidate& candidate, const NewSize& inCalls, const DimClass& but = {}) {
  Resizing resizing{.inCalls = inCalls};
  for (std::size_t i = 0; i < candidate.inputs.size(); ++i) {
    const Value& value = candidate.inputs[i];
    if (!hasData(value)) continue;
    for (std::size_t d = 0; d < value.tensor().sizes().size(); ++d) {
      const bool stays = std::ranges::any_of(
          but.places, [&](const DimClass::Place& place) { return place.input == i && place.dim == d; });
      if (value.tensor().sizes()[d] > 1 && !stays) resizing.places.push_back({{i, d, {}}, 1});
    }
  }
  if (resizing.places.empty()) return std::nullopt;
  return resizedCandidate(candidate, resizing);
}

NewSize oneUnless(std::int64_t kept) {
  return [kept](std::int64_t number) {
    return number > 1 && number != kept ? std::optional<std::int64_t>(1) : std::nullopt;
  };
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

/// Size 1, and no such dimension any more.
std::optional<Candidate> dropped(const Candidate& candidate, const DimClass& dims) {
  const auto one = shrunk(candidate, dims, 1, true);
  return one ? allDimsDropped(*one) : std::nullopt;
}

/// The sizes to try: all that halving can lead to, or, where that was done, the least and the next smaller one.
std::vector<std::int64_t> sizesFor(const DimClass& dims, bool isSettled) {
  if (!isSettled) return smallerValues(1, dims.present);
  if (dims.present == 2) return {1};
  return {1, dims.present - 1};
}

/// 1 is the least only of what cannot go altogether, which is asked before it; else halving comes to it.
std::optional<Candidate> shrunkTo(const Candidate& candidate, const DimClass& dims, std::int64_t size, bool inCalls) {
  if (size == 1 && dims.present > 2 && dropped(candidate, dims)) return std::nullopt;
  return shrunk(candidate, dims, size, inCalls);
}

/// Class after class: what was refused of one is not asked again for every step of the next.
std::vector<Edit> editsThatShrinkDims(const ReductionInput& input, ResumePoint resume) {
  constexpr std::size_t many = 3;  // of fewer classes each is as soon made 1 by itself
  const auto classes = std::make_shared<std::vector<DimClass>>(dimClasses(input.candidate));
  std::vector<Edit> list;
  if (classes->size() >= many && !input.isSettled && resume.position == 0) {
    list.push_back({{}, [&input] { return allDimsOne(input.candidate); }});
    list.push_back({{}, [&input] { return allOne(input.candidate, {}); }});
  }
  for (std::size_t i = resume.position; i < classes->size(); ++i) {
    list.push_back({{i}, [&input, classes, i] { return dropped(input.candidate, (*classes)[i]); }});
    for (const std::int64_t size : sizesFor((*classes)[i], input.isSettled))
      for (const bool inCalls : {true, false})
        list.push_back({{i}, [&input, classes, i, size, inCalls] {
                          return shrunkTo(input.candidate, (*classes)[i], size, inCalls);
                        }});
  }
  return list;
}

}  // namespace

std::optional<Candidate> allDimsOne(const Candidate& candidate) { return allOne(candidate, oneUnless(1)); }

std::optional<Candidate> otherDimsOne(const Candidate& candidate, const DimClass& kept) {
  return allOne(candidate, oneUnless(kept.present), kept);
}

Reduction shrinkDims() { return {"shrink_dims", "Makes a dimension of the inputs smaller.", editsThatShrinkDims}; }

}  // namespace kerf::inline minifier::inline reductions
