#include "engine/audit/meaning/run_values.h"

#include <cmath>

#include "engine/audit/kernels/kernel_model.h"

namespace kerf::inline audit {
namespace {

/// Calls `visit` with the place of each element, in the order of the sizes.
template <class Visit>
void forPlaces(const RunTensor& tensor, const Visit& visit) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.sizes) count *= size;
  std::vector<std::int64_t> at(tensor.sizes.size(), 0);
  std::int64_t place = tensor.offset;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(std::size_t(i), place);
    for (std::size_t d = at.size(); d-- > 0;) {
      place += tensor.strides[d];
      if (++at[d] < tensor.sizes[d]) break;
      place -= at[d] * tensor.strides[d];
      at[d] = 0;
    }
  }
}

}  // namespace

std::size_t countOf(const Sizes& sizes) {
  std::size_t count = 1;
  for (const std::int64_t size : sizes) count *= std::size_t(size);
  return count;
}

std::int64_t spanOf(const Sizes& sizes, const Sizes& strides) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

RunValue tensorValue(const DenseNumbers& numbers, const Sizes& strides) {
  RunValue value;
  value.kind = RunValue::Kind::Tensor;
  const DType dtype = numbers.dtype;
  value.tensor.dtype = dtype;
  value.tensor.sizes = numbers.sizes;
  value.tensor.strides = strides;
  const std::string_view name = dtypeInfo(dtype).torchName;
  value.tensor.memory =
      std::make_shared<RunMemory>(laneTypeOf(elementType(name)), std::size_t(spanOf(numbers.sizes, strides)));
  (void)value.tensor.write(numbers);
  return value;
}

RunValue otherValue(Value value) {
  RunValue made;
  made.kind = RunValue::Kind::Other;
  made.number = std::move(value);
  return made;
}

RunValue numberValue(Value value) {
  RunValue made = otherValue(std::move(value));
  made.kind = RunValue::Kind::Number;
  return made;
}

std::optional<double> realOf(const RunValue& value) {
  if (value.kind != RunValue::Kind::Number) return std::nullopt;
  if (const auto* const whole = value.number.as<std::int64_t>()) return double(*whole);
  if (const double* const real = value.number.as<double>()) return *real;
  if (const bool* const flag = value.number.as<bool>()) return double(*flag);
  return std::nullopt;
}

RunValue calculated(std::string_view sign, double a, double b) {
  const bool isWhole = a == std::trunc(a) && b == std::trunc(b) && sign != "/";
  double value = 0;
  if (sign == "+")
    value = a + b;
  else if (sign == "-")
    value = a - b;
  else if (sign == "*")
    value = a * b;
  else if (sign == "//" && b != 0)
    value = std::floor(a / b);
  else if (sign == "%" && b != 0)
    value = a - b * std::floor(a / b);
  else if (sign == "/" && b != 0)
    value = a / b;
  else
    return {};
  return isWhole ? numberValue(std::int64_t(value)) : numberValue(value);
}

DenseNumbers RunTensor::numbers() const {
  DenseNumbers numbers{sizes, dtype, std::vector<double>(countOf(sizes)), true};
  forPlaces(*this, [&](std::size_t i, std::int64_t place) {
    const bool isInside = place >= 0 && place < std::int64_t(memory->values.size());
    numbers.isKnown = numbers.isKnown && isInside && memory->states[std::size_t(place)] == RunMemory::State::Known;
    if (isInside) numbers.values[i] = memory->values[std::size_t(place)];
  });
  return numbers;
}

bool RunTensor::write(const DenseNumbers& numbers) const {
  if (numbers.values.size() != countOf(sizes) || !numbers.isKnown) return false;
  forPlaces(*this, [&](std::size_t i, std::int64_t place) {
    if (place < 0 || place >= std::int64_t(memory->values.size())) return;
    memory->values[std::size_t(place)] = asLane(memory->type, numbers.values[i]);
    memory->states[std::size_t(place)] = RunMemory::State::Known;
  });
  return true;
}

}  // namespace kerf::inline audit
