#include "engine/audit/meaning/value_marks.h"

#include <cmath>

namespace kerf::inline audit {
namespace {

template <class T>
std::vector<double> read(const Tensor& tensor) {
  std::vector<double> values(std::size_t(tensor.numel()));
  const T* const data = tensor.data<T>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = double(data[i]);
  return values;
}

template <class T>
void write(const Tensor& tensor, const std::vector<double>& values) {
  T* const data = tensor.data<T>();
  for (std::size_t i = 0; i < values.size(); ++i) data[i] = T(values[i]);
}

std::optional<std::vector<double>> elements(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::Float64:
      return read<double>(tensor);
    case DType::Float32:
      return read<float>(tensor);
    case DType::Int64:
      return read<std::int64_t>(tensor);
    case DType::Int32:
      return read<std::int32_t>(tensor);
    case DType::Int16:
      return read<std::int16_t>(tensor);
    case DType::Int8:
      return read<std::int8_t>(tensor);
    case DType::UInt8:
      return read<std::uint8_t>(tensor);
    case DType::Bool:
      return read<bool>(tensor);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<DenseNumbers> numbersOf(const Tensor& tensor) {
  auto dense = tensor.contiguous();
  if (!dense || isComplex(tensor.dtype())) return std::nullopt;
  if (isFloating(dense->dtype())) dense = dense->to(DType::Float64);
  if (!dense) return std::nullopt;
  auto values = elements(*dense);
  if (!values) return std::nullopt;
  return DenseNumbers{tensor.sizes(), tensor.dtype(), std::move(*values), true};
}

Result<Tensor> tensorOf(const DenseNumbers& numbers) {
  const DType dtype = isFloating(numbers.dtype) ? DType::Float64 : numbers.dtype;
  KERF_TRY(const Tensor tensor, Tensor::zeros(dtype, numbers.sizes));
  switch (dtype) {
    case DType::Float64:
      write<double>(tensor, numbers.values);
      return tensor;
    case DType::Int64:
      write<std::int64_t>(tensor, numbers.values);
      return tensor;
    case DType::Int32:
      write<std::int32_t>(tensor, numbers.values);
      return tensor;
    case DType::Int16:
      write<std::int16_t>(tensor, numbers.values);
      return tensor;
    case DType::Int8:
      write<std::int8_t>(tensor, numbers.values);
      return tensor;
    case DType::UInt8:
      write<std::uint8_t>(tensor, numbers.values);
      return tensor;
    case DType::Bool:
      write<bool>(tensor, numbers.values);
      return tensor;
    default:
      return fail(ErrorCode::UnsupportedOp, "values of {} are not compared", dtypeInfo(dtype).torchName);
  }
}

Result<Value> inFloat64Value(const Value& value) {
  if (!value.isTensor()) return value;
  const Tensor& tensor = value.tensor();
  if (!isFloating(tensor.dtype())) {
    KERF_TRY(Tensor copy, tensor.clonePreservingStrides());
    return Value(std::move(copy));
  }
  KERF_TRY(Tensor copy, tensor.clonePreservingStrides());
  if (copy.dtype() == DType::Float64) return Value(std::move(copy));
  KERF_TRY(const Tensor dense, tensor.to(DType::Float64));
  KERF_TRY(Tensor strided, Tensor::zerosStrided(DType::Float64, tensor.sizes(), tensor.strides()));
  KERF_TRY(const Tensor packed, dense.contiguous());
  const double* const from = packed.data<double>();
  double* const to = strided.data<double>();
  const Sizes& sizes = tensor.sizes();
  std::vector<std::int64_t> at(sizes.size(), 0);
  for (std::int64_t i = 0; i < packed.numel(); ++i) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) place += at[d] * tensor.strides()[d];
    to[place] = from[i];
    for (std::size_t d = sizes.size(); d-- > 0;) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
  }
  return Value(std::move(strided));
}

ValueMark ValueMark::of(const DenseNumbers& numbers) {
  ValueMark mark;
  mark.count = numbers.values.size();
  for (std::size_t i = 0; i < mark.count; ++i) {
    double value = numbers.values[i];
    if (std::isnan(value)) value = 977;
    if (std::isinf(value)) value = value > 0 ? 1009 : -1013;
    const double weight = double(i) * 0.6180339887498949;
    mark.sum += value;
    mark.size += std::abs(value);
    mark.placed += value * (weight - std::floor(weight) + 0.5);
  }
  return mark;
}

bool ValueMark::isLike(const ValueMark& other, bool inPlace) const {
  const double slack = 1e-8 * (size + other.size) + 1e-12;
  return count == other.count && std::abs(sum - other.sum) <= slack && std::abs(size - other.size) <= slack &&
         (!inPlace || std::abs(placed - other.placed) <= slack);
}

}  // namespace kerf::inline audit
