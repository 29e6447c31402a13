#include "engine/audit/meaning/run_values.h"

#include <algorithm>
#include <cmath>

#include "engine/audit/kernels/kernel_model.h"

namespace kerf::inline audit {
namespace {

/// Calls `visit` with the first element and place of each row, in the order of the sizes, until it says false.
template <class Visit>
void forRows(const RunTensor& tensor, const Visit& visit) {
  const std::size_t rank = tensor.sizes.size();
  const std::int64_t width = rank == 0 ? 1 : tensor.sizes.back();
  const auto count = std::int64_t(countOf(tensor.sizes));
  std::vector<std::int64_t> at(rank, 0);
  std::int64_t place = tensor.offset;
  for (std::int64_t i = 0; i < count; i += width) {
    if (!visit(std::size_t(i), place, std::size_t(width))) return;
    for (std::size_t d = rank < 1 ? 0 : rank - 1; d-- > 0;) {
      place += tensor.strides[d];
      if (++at[d] < tensor.sizes[d]) break;
      place -= at[d] * tensor.strides[d];
      at[d] = 0;
    }
  }
}

/// Whether all elements lie in a row, without gaps.
bool isDense(const RunTensor& tensor) {
  std::int64_t next = 1;
  for (std::size_t d = tensor.sizes.size(); d-- > 0;) {
    if (tensor.sizes[d] != 1 && tensor.strides[d] != next) return false;
    next *= tensor.sizes[d];
  }
  return true;
}

}  // namespace

std::size_t countOf(const Sizes& sizes) {
  std::size_t count = 1;
  for (const std::int64_t size : sizes) count *= std::size_t(size);
  return count;
}

double elementsOf(const Sizes& sizes) {
  double count = 1;
  for (const std::int64_t size : sizes) count *= double(size);
  return count;
}

std::int64_t spanOf(const Sizes& sizes, const Sizes& strides) {
  std::int64_t last = 0;
  bool isBeyond = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    std::int64_t part = 0;
    isBeyond = __builtin_mul_overflow(sizes[i] - 1, strides[i], &part) || __builtin_add_overflow(last, part, &last) ||
               isBeyond;
  }
  return isBeyond || last == INT64_MAX ? INT64_MAX : last + 1;
}

RunValue tensorValue(const DenseNumbers& numbers, const Sizes& strides) {
  RunValue value;
  value.kind = RunValue::Kind::Tensor;
  const DType dtype = numbers.dtype;
  value.tensor.dtype = dtype;
  value.tensor.sizes = numbers.sizes;
  value.tensor.strides = strides;
  const LaneType type = laneTypeOf(elementType(dtypeInfo(dtype).torchName));
  if (isDense(value.tensor) && numbers.isKnown && isFloatLane(type)) {
    value.tensor.memory = std::make_shared<RunMemory>(type, numbers.values);
    return value;
  }
  value.tensor.memory = std::make_shared<RunMemory>(type, std::size_t(spanOf(numbers.sizes, strides)));
  (void)value.tensor.write(numbers);
  return value;
}

RunValue sharedValue(const Tensor& tensor) {
  RunValue value;
  value.kind = RunValue::Kind::Tensor;
  value.tensor.dtype = DType::Float64;
  value.tensor.sizes = tensor.sizes();
  value.tensor.strides = tensor.strides();
  const auto span = std::size_t(spanOf(tensor.sizes(), tensor.strides()));
  value.tensor.memory = std::make_shared<RunMemory>(LaneType::Float64,
                                                    NumberArray::borrow(tensor.storage(), tensor.data<double>(), span));
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

std::optional<Tensor> RunTensor::view() const {
  const std::size_t count = countOf(sizes);
  if (!memory->isKnown() || !isFloating(dtype) || count == 0 || offset < 0 ||
      offset + spanOf(sizes, strides) > std::int64_t(memory->size()))
    return std::nullopt;
  const NumberArray& all = memory->numbers();
  auto* const bytes = reinterpret_cast<std::byte*>(const_cast<double*>(all.data()));
  const auto storage = Storage::borrow(bytes, std::int64_t(all.size() * sizeof(double)), all.owner());
  return Tensor(storage, DType::Float64, sizes, strides, offset);
}

DenseNumbers RunTensor::numbers() const {
  const std::size_t count = countOf(sizes);
  const auto size = std::int64_t(memory->size());
  if (isDense(*this) && memory->isKnown() && offset >= 0 && offset + std::int64_t(count) <= size)
    return {sizes, dtype, memory->numbers().part(std::size_t(offset), count), true};
  DenseNumbers numbers{sizes, dtype, NumberArray(count), true};
  double* const to = numbers.values.edit();
  const double* const from = memory->numbers().data();
  const std::int64_t step = sizes.empty() ? 1 : strides.back();
  forRows(*this, [&](std::size_t first, std::int64_t place, std::size_t width) {
    const std::int64_t last = place + std::int64_t(width - 1) * step;
    numbers.isKnown = std::min(place, last) >= 0 && std::max(place, last) < size;
    for (std::size_t i = 0; i < width && numbers.isKnown; ++i, place += step) {
      numbers.isKnown = memory->isKnown(std::size_t(place));
      to[first + i] = from[place];
    }
    return numbers.isKnown;
  });
  return numbers;
}

bool RunTensor::write(const DenseNumbers& numbers) const {
  if (numbers.values.size() != countOf(sizes) || !numbers.isKnown) return false;
  const bool isWhole = !isFloatLane(memory->type);
  if (isDense(*this) && offset == 0 && memory->size() == numbers.values.size() && !isWhole) {
    memory->adopt(numbers.values);
    return true;
  }
  double* const to = memory->edit();
  const double* const from = numbers.values.data();
  const std::int64_t step = sizes.empty() ? 1 : strides.back();
  forRows(*this, [&](std::size_t first, std::int64_t place, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i, place += step) {
      if (place < 0 || place >= std::int64_t(memory->size())) continue;
      to[place] = isWhole ? asLane(memory->type, from[first + i]) : from[first + i];
      memory->note(std::size_t(place));
    }
    return true;
  });
  return true;
}

}  // namespace kerf::inline audit
