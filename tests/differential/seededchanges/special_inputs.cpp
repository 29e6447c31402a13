#include "tests/differential/seededchanges/special_inputs.h"

#include <cmath>
#include <limits>

#include "engine/tensor/copy.h"

namespace kerf::seededchanges {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

/// A copy with the number at the element in the order of rows.
Result<Tensor> withNumber(const Tensor& tensor, std::int64_t element, double number) {
  KERF_TRY(Tensor wide, tensor.to(DType::Float64));
  KERF_TRY(wide, wide.contiguous());
  KERF_TRY(Tensor copy, wide.clone());
  copy.data<double>()[element] = number;
  KERF_TRY(const Tensor narrow, copy.to(tensor.dtype()));
  KERF_TRY(Tensor result, tensor.clonePreservingStrides());
  KERF_CHECK(copyElements(narrow, result));
  return result;
}

double kindOf(double value) { return std::isfinite(value) ? 0 : std::isnan(value) ? 2 : std::copysign(1, value); }

}  // namespace

Result<void> placeSpecials(SlotValues& inputs, fuzzgraph::Dice& dice) {
  for (auto& [slot, value] : inputs) {
    if (!value.isTensor() || !isFloating(value.tensor().dtype()) || value.tensor().numel() < 2) continue;
    if (!dice.chance(50)) continue;
    for (std::int64_t left = dice.between(1, 2); left > 0; --left) {
      const std::int64_t element = dice.between(0, value.tensor().numel() - 1);
      KERF_TRY(Tensor changed, withNumber(value.tensor(), element, dice.pick({nan, nan, infinity, -infinity})));
      value = Value(std::move(changed));
    }
  }
  return {};
}

bool hasSpecialsElsewhere(const Value& a, const Value& b) {
  if (a.isList() && b.isList() && a.list().size() == b.list().size()) {
    for (std::size_t i = 0; i < a.list().size(); ++i)
      if (hasSpecialsElsewhere(a.list()[i], b.list()[i])) return true;
    return false;
  }
  if (!a.isTensor() || !b.isTensor() || a.tensor().numel() != b.tensor().numel()) return false;
  const Tensor &first = a.tensor(), &second = b.tensor();
  if (!isFloating(first.dtype()) || !isFloating(second.dtype())) return false;
  for (std::int64_t i = 0; i < first.numel(); ++i)
    if (kindOf(first.itemAsDouble(i)) != kindOf(second.itemAsDouble(i))) return true;
  return false;
}

}  // namespace kerf::seededchanges
