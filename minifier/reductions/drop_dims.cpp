// drop_dims: of all inputs, of one input, one alone. Calls that name dimensions refuse by their shape rules.
#include "minifier/reductions/drop_dims.h"

#include <algorithm>

#include "minifier/core/candidate_editor.h"
#include "minifier/core/tensor_like.h"

namespace kerf::inline minifier::inline reductions {

namespace {

bool hasOne(const Value& value) {
  return hasData(value) && std::ranges::count(value.tensor().sizes(), std::int64_t{1}) > 0;
}

Value dropped(const Value& value, std::optional<std::size_t> only) {
  const Tensor& tensor = value.tensor();
  Sizes sizes, strides;
  for (std::size_t d = 0; d < tensor.sizes().size(); ++d) {
    if (tensor.sizes()[d] == 1 && (!only || *only == d)) continue;
    sizes.push_back(tensor.sizes()[d]);
    strides.push_back(tensor.strides()[d]);
  }
  return markedAs(tensor.viewAs(sizes, strides, tensor.offset()), tensor);
}

std::optional<Candidate> without(const Candidate& candidate, std::optional<std::size_t> input,
                                 std::optional<std::size_t> dim) {
  CandidateEditor editor(candidate);
  const std::vector<NodeId> placeholders = editor.graph().placeholders();
  for (std::size_t i = 0; i < candidate.inputs.size(); ++i)
    if ((!input || *input == i) && hasOne(candidate.inputs[i]))
      editor.setInput(placeholders[i], dropped(candidate.inputs[i], dim));
  return editor.finishWithShapes();
}

std::vector<Edit> editsThatDropDims(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  const ValueList& values = input.candidate.inputs;
  const auto add = [&](std::optional<std::size_t> which, std::optional<std::size_t> dim) {
    list.push_back({{}, [&input, which, dim] { return without(input.candidate, which, dim); }});
  };
  if (std::ranges::count_if(values, hasOne) > 1) add({}, {});
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!hasOne(values[i])) continue;
    add(i, {});
    const Sizes& sizes = values[i].tensor().sizes();
    for (std::size_t d = 0; sizes.size() > 1 && d < sizes.size(); ++d)
      if (sizes[d] == 1) add(i, d);
  }
  return list;
}

}  // namespace

std::optional<Candidate> allDimsDropped(const Candidate& candidate) {
  if (std::ranges::none_of(candidate.inputs, hasOne)) return std::nullopt;
  return without(candidate, {}, {});
}

Reduction dropDims() { return {"drop_dims", "Takes dimensions of size 1 from inputs.", editsThatDropDims}; }

}  // namespace kerf::inline minifier::inline reductions
