#include "engine/audit/meaning/changed_inputs.h"

#include <cmath>
#include <optional>

#include "engine/audit/meaning/value_marks.h"

namespace kerf::inline audit {
namespace {

/// Numbers of an input that are to be changed.
std::optional<DenseNumbers> changeable(const Value& input) {
  if (!input.isTensor() || !isFloating(input.tensor().dtype())) return std::nullopt;
  return numbersOf(input.tensor());
}

}  // namespace

ValueList positive(const ValueList& inputs) {
  ValueList made;
  for (const Value& input : inputs) {
    made.push_back(input);
    auto numbers = changeable(input);
    if (!numbers) continue;
    double* const values = numbers->values.edit();
    for (std::size_t i = 0; i < numbers->values.size(); ++i)
      values[i] = std::isfinite(values[i]) ? std::abs(values[i]) + 0.05 : 1;
    if (auto value = withNumbers(input.tensor(), *numbers)) made.back() = std::move(*value);
  }
  return made;
}

ValueList perturbed(const ValueList& inputs, int which) {
  ValueList made;
  double turn = which * 0.37;
  for (const Value& input : inputs) {
    made.push_back(input);
    if (!input.isTensor() || !isFloating(input.tensor().dtype())) continue;
    auto numbers = numbersOf(input.tensor());
    if (!numbers) continue;
    double* const values = numbers->values.edit();
    for (std::size_t i = 0; i < numbers->values.size(); ++i) {
      turn += 0.6180339887498949;
      values[i] *= 1 + 1e-10 * (turn - std::floor(turn) - 0.5);
    }
    numbers->dtype = DType::Float64;
    if (auto value = withNumbers(input.tensor(), *numbers)) made.back() = std::move(*value);
  }
  return made;
}

ValueList withZeros(const ValueList& inputs) {
  ValueList made = inputs;
  for (Value& input : made) {
    auto numbers = changeable(input);
    if (!numbers || numbers->values.size() < 2) continue;
    double* const values = numbers->values.edit();
    values[0] = -0.0;
    values[1] = 0.0;
    if (auto value = withNumbers(input.tensor(), *numbers)) input = std::move(*value);
  }
  return made;
}

}  // namespace kerf::inline audit
