// simplify_values: all inputs at once, then each alone, the plainest values first.
#include "minifier/reductions/simplify_all.h"

#include <algorithm>
#include <cmath>

#include "engine/tensor/copy.h"
#include "minifier/core/candidate_editor.h"
#include "minifier/core/complexity.h"
#include "minifier/core/tensor_like.h"

namespace kerf::inline minifier::inline reductions {

namespace {

using Plainer = double (*)(double);

double zero(double) { return 0; }
double one(double) { return 1; }
/// Sign and order stay as far as that goes.
double smallInteger(double value) {
  if (std::isnan(value)) return 0;
  return std::clamp(std::round(value), -9.0, 9.0);
}
constexpr Plainer plainer[] = {zero, one, smallInteger};

bool isPlainEnough(const Value& value) { return valueComplexity(value) == 0; }

/// Large tensors take one value for all elements, or none at all.
std::optional<Value> changed(const Value& value, Plainer change) {
  const Tensor& tensor = value.tensor();
  const Tensor elements = collapsed(tensor);
  const bool isConstant = change != smallInteger;
  if (isComplex(tensor.dtype()) ? change != zero : !isConstant && elements.numel() > mostReadableElements)
    return std::nullopt;
  const auto result = Tensor::zerosStrided(tensor.dtype(), elements.sizes(), elements.strides());
  if (!result) return std::nullopt;
  if (change == zero) return expandedAs(*result, tensor);
  if (isConstant) {
    const Sizes still(elements.sizes().size(), 0);
    const auto number = Tensor::scalar(change(0), tensor.dtype());
    if (!copyElements(number.viewAs(elements.sizes(), still, number.offset()), *result)) return std::nullopt;
    return expandedAs(*result, tensor);
  }
  auto wide = Tensor::zeros(DType::Float64, elements.sizes());
  if (!wide) return std::nullopt;
  for (std::int64_t i = 0; i < elements.numel(); ++i) wide->data<double>()[i] = change(elements.itemAsDouble(i));
  const auto narrow = wide->to(tensor.dtype());
  if (!narrow || !copyElements(*narrow, *result)) return std::nullopt;
  return expandedAs(*result, tensor);
}

std::optional<Candidate> withValues(const Candidate& candidate, std::optional<std::size_t> only, Plainer change) {
  CandidateEditor editor(candidate);
  const std::vector<NodeId> placeholders = editor.graph().placeholders();
  bool any = false;
  for (std::size_t i = 0; i < candidate.inputs.size(); ++i) {
    if ((only && *only != i) || isPlainEnough(candidate.inputs[i])) continue;
    auto value = changed(candidate.inputs[i], change);
    if (!value) continue;
    editor.setInput(placeholders[i], std::move(*value));
    any = true;
  }
  return any ? std::optional(editor.finish()) : std::nullopt;
}

std::vector<Edit> editsThatSimplifyValues(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  const ValueList& values = input.candidate.inputs;
  const auto add = [&](std::optional<std::size_t> only, Plainer change) {
    list.push_back({{}, [&input, only, change] { return withValues(input.candidate, only, change); }});
  };
  const auto rest = values.size() - std::size_t(std::ranges::count_if(values, isPlainEnough));
  if (rest > 1)
    for (const Plainer change : plainer) add({}, change);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!isPlainEnough(values[i]))
      for (const Plainer change : plainer) add(i, change);
  return list;
}

}  // namespace

std::optional<Candidate> allZeros(const Candidate& candidate) { return withValues(candidate, {}, zero); }

Reduction simplifyValues() {
  return {"simplify_values", "Makes inputs zeros, ones or small integers.", editsThatSimplifyValues};
}

}  // namespace kerf::inline minifier::inline reductions
