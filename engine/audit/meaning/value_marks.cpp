#include "engine/audit/meaning/value_marks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/tensor/copy.h"

namespace kerf::inline audit {
namespace {

template <class T>
NumberArray read(const Tensor& tensor) {
  NumberArray values(std::size_t(tensor.numel()));
  double* const to = values.edit();
  const T* const data = tensor.data<T>();
  for (std::size_t i = 0; i < values.size(); ++i) to[i] = double(data[i]);
  return values;
}

template <class T>
void write(const Tensor& tensor, const NumberArray& values) {
  T* const data = tensor.data<T>();
  for (std::size_t i = 0; i < values.size(); ++i) data[i] = T(values[i]);
}

std::optional<NumberArray> elements(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::Float64:
      return NumberArray::borrow(tensor.storage(), tensor.data<double>(), std::size_t(tensor.numel()));
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

/// Between 0.5 and 1.5.
double weightOf(std::size_t place) {
  const double turns = double(place) * 0.6180339887498949;
  return turns - std::floor(turns) + 0.5;
}

double endlessMark(double value) { return std::isnan(value) ? 977 : value > 0 ? 1009 : -1013; }

class MarkSums {
 public:
  explicit MarkSums(ValueMark& mark) : m_mark(mark) {}

  /// `count` numbers, which lie `stride` apart; in the order of the sizes they are `first`, `first + step`, ….
  void addRow(const double* from, std::int64_t stride, std::size_t count, std::size_t first, std::size_t step) const {
    constexpr std::size_t width = 8;  // sums each, so that none waits for the other
    std::array<double, width> sums{}, sizes{}, places{}, squares{}, weights{};
    for (std::size_t k = 0; k < width; ++k) weights[k] = weightOf(first + k * step);
    const double turn = weightOf(width * step) - 0.5;
    const auto add = [&](std::size_t k, double number) {
      const double value = std::abs(number) <= std::numeric_limits<double>::max() ? number : endlessMark(number);
      sums[k] += value;
      sizes[k] += std::abs(value);
      squares[k] += value * value;
      places[k] += value * weights[k];
      weights[k] += turn;
      weights[k] -= weights[k] >= 1.5 ? 1.0 : 0.0;
    };
    std::size_t i = 0;
    for (; i + width <= count; i += width)
      for (std::size_t k = 0; k < width; ++k) add(k, from[std::int64_t(i + k) * stride]);
    for (std::size_t k = 0; i + k < count; ++k) add(k, from[std::int64_t(i + k) * stride]);
    for (std::size_t k = 0; k < width; ++k) {
      m_mark.sum += sums[k];
      m_mark.size += sizes[k];
      m_mark.squares += squares[k];
      m_mark.placed += places[k];
    }
    m_mark.count += count;
  }

 private:
  ValueMark& m_mark;
};

struct MarkAxis {
  std::int64_t size, stride;
  std::size_t place;  ///< how much the place in the order of the sizes grows with a step
};

/// Axes that are one, as they lie and in the order of the sizes, become one.
void joinAxes(std::vector<MarkAxis>& axes) {
  std::erase_if(axes, [](const MarkAxis& each) { return each.size == 1; });
  for (std::size_t d = 1; d < axes.size();) {
    MarkAxis& inner = axes[d - 1];
    const bool isOne =
        axes[d].stride == inner.stride * inner.size && axes[d].place == inner.place * std::size_t(inner.size);
    if (!isOne) {
      ++d;
      continue;
    }
    inner.size *= axes[d].size;
    axes.erase(axes.begin() + std::ptrdiff_t(d));
  }
}

/// The first `count` axes, of which the first one changes fastest.
void addAxes(const MarkSums& sums, const std::vector<MarkAxis>& axes, std::size_t count, const double* from,
             std::size_t place) {
  if (count == 0) return sums.addRow(from, 1, 1, place, 1);
  const MarkAxis& axis = axes[count - 1];
  if (count == 1) return sums.addRow(from, axis.stride, std::size_t(axis.size), place, axis.place);
  for (std::int64_t i = 0; i < axis.size; ++i)
    addAxes(sums, axes, count - 1, from + i * axis.stride, place + std::size_t(i) * axis.place);
}

}  // namespace

std::optional<DenseNumbers> numbersOf(const Tensor& tensor) {
  if (isComplex(tensor.dtype())) return std::nullopt;
  auto dense = tensor.contiguous();
  if (dense && isFloating(dense->dtype())) dense = dense->to(DType::Float64);
  if (!dense) return std::nullopt;
  auto values = elements(*dense);
  if (!values) return std::nullopt;
  return DenseNumbers{tensor.sizes(), tensor.dtype(), std::move(*values), true};
}

Result<Tensor> tensorOf(const DenseNumbers& numbers) {
  const DType dtype = isFloating(numbers.dtype) ? DType::Float64 : numbers.dtype;
  if (dtype == DType::Float64 && numbers.values.size() > 0) {
    // Nobody writes through it: operators that would are given copies.
    auto* const bytes = reinterpret_cast<std::byte*>(const_cast<double*>(numbers.values.data()));
    const auto storage =
        Storage::borrow(bytes, std::int64_t(numbers.values.size() * sizeof(double)), numbers.values.owner());
    return Tensor(storage, dtype, numbers.sizes, contiguousStrides(numbers.sizes));
  }
  KERF_TRY(const Tensor tensor, Tensor::zeros(dtype, numbers.sizes));
  switch (dtype) {
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

Result<Value> withNumbers(const Tensor& like, const DenseNumbers& numbers) {
  KERF_TRY(Tensor dense, tensorOf(numbers));
  if (like.isContiguous()) return Value(std::move(dense));
  KERF_TRY(Tensor strided, Tensor::zerosStrided(dense.dtype(), like.sizes(), like.strides()));
  KERF_CHECK(copyElements(dense, strided));
  return Value(std::move(strided));
}

Result<Value> inFloat64Value(const Value& value) {
  if (!value.isTensor()) return value;
  const Tensor& tensor = value.tensor();
  if (!isFloating(tensor.dtype()) || tensor.dtype() == DType::Float64) {
    KERF_TRY(Tensor copy, tensor.clonePreservingStrides());
    return Value(std::move(copy));
  }
  KERF_TRY(Tensor dense, tensor.to(DType::Float64));
  if (tensor.isContiguous() && dense.isContiguous()) return Value(std::move(dense));
  KERF_TRY(Tensor strided, Tensor::zerosStrided(DType::Float64, tensor.sizes(), tensor.strides()));
  KERF_TRY(const Tensor packed, dense.contiguous());
  const double* const from = packed.data<double>();
  double* const to = strided.data<double>();
  const Sizes& sizes = tensor.sizes();
  std::vector<std::int64_t> at(sizes.size(), 0);
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < packed.numel(); ++i) {
    to[place] = from[i];
    for (std::size_t d = sizes.size(); d-- > 0;) {
      place += tensor.strides()[d];
      if (++at[d] < sizes[d]) break;
      place -= at[d] * tensor.strides()[d];
      at[d] = 0;
    }
  }
  return Value(std::move(strided));
}

ValueMark ValueMark::of(const DenseNumbers& numbers) {
  ValueMark mark;
  MarkSums(mark).addRow(numbers.values.data(), 1, numbers.values.size(), 0, 1);
  return mark;
}

std::optional<ValueMark> ValueMark::of(const Tensor& tensor) {
  if (tensor.dtype() != DType::Float64) {
    const auto numbers = numbersOf(tensor);
    return numbers ? std::optional(of(*numbers)) : std::nullopt;
  }
  // In the order in which they lie, not of the sizes: a transposed matrix is read row by row.
  std::vector<MarkAxis> axes;
  std::size_t place = 1;
  for (std::size_t d = tensor.sizes().size(); d-- > 0;) {
    axes.push_back({tensor.sizes()[d], tensor.strides()[d], place});
    place *= std::size_t(tensor.sizes()[d]);
  }
  ValueMark mark;
  if (place == 0) return mark;
  std::ranges::stable_sort(axes, {}, &MarkAxis::stride);
  joinAxes(axes);
  addAxes(MarkSums(mark), axes, axes.size(), tensor.data<double>(), 0);
  return mark;
}

bool ValueMark::isLike(const ValueMark& other, bool inPlace) const {
  const double slack = 1e-8 * (size + other.size) + 1e-12;
  const double squaresSlack = 1e-8 * (squares + other.squares) + 1e-12;
  return count == other.count && std::abs(sum - other.sum) <= slack && std::abs(size - other.size) <= slack &&
         !(std::abs(squares - other.squares) > squaresSlack) && (!inPlace || std::abs(placed - other.placed) <= slack);
}

}  // namespace kerf::inline audit
