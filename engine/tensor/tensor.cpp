#include "engine/tensor/tensor.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>

#include "engine/tensor/convert.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/empty.h"

namespace kerf::inline tensor {
namespace {

/// Elements between the first and the last one touched, plus one; 0 for an empty tensor. TooLarge on overflow.
Result<std::int64_t> spanOf(const Sizes& sizes, const Sizes& strides) {
  std::int64_t span = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(sizes[d] - 1, strides[d], &reach) || __builtin_add_overflow(span, reach, &span))
      return fail(ErrorCode::TooLarge, "a tensor of sizes [{}] and strides [{}] spans more than 2^63 elements",
                  fmt::join(sizes, ", "), fmt::join(strides, ", "));
  }
  return span;
}

Result<std::int64_t> bytesFor(std::int64_t elements, DType dtype) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, itemSize(dtype), &bytes))
    return fail(ErrorCode::TooLarge, "{} elements of {} are more than 2^63 bytes", elements,
                dtypeInfo(dtype).torchName);
  return bytes;
}

/// Position in the storage of a flat row-major index.
std::int64_t elementOffset(const Tensor& tensor, std::int64_t index) {
  std::int64_t at = 0;
  for (std::int64_t d = tensor.dim(); d-- > 0;) {
    at += index % tensor.size(d) * tensor.stride(d);
    index /= tensor.size(d);
  }
  return at;
}

/// The element at `index` converted to T.
template <class T>
T item(const Tensor& tensor, std::int64_t index) {
  const std::int64_t at = elementOffset(tensor, index);
  T value{};
  if (dispatchAllAndComplex(tensor.dtype(), [&]<class From>() { value = convertElement<T>(tensor.data<From>()[at]); }))
    return value;
  const Tensor one = tensor.viewAs({}, {}, tensor.offset() + at);  // an 8-bit float
  const auto converted = one.to(dtypeOf<T>());
  return converted ? *converted->template data<T>() : T(0);
}

template <class From>
Tensor makeScalar(From value, DType dtype) {
  Tensor source(Storage::allocate(sizeof(From)).value(), dtypeOf<From>(), {}, {});
  *source.data<From>() = value;
  if (dtype == dtypeOf<From>()) return source;
  Tensor result(Storage::allocate(itemSize(dtype)).value(), dtype, {}, {});
  (void)copyElements(source, result);  // complex32 alone has no conversion: it stays zero
  return result;
}

}  // namespace

Tensor::Tensor() = default;
Tensor::Tensor(const Tensor&) = default;
Tensor::Tensor(Tensor&&) noexcept = default;
Tensor& Tensor::operator=(const Tensor&) = default;
Tensor& Tensor::operator=(Tensor&&) noexcept = default;
Tensor::~Tensor() = default;
Tensor::Tensor(StoragePtr storage, DType dtype, SymSizes sizes, SymSizes strides, SymInt offset)
    : m_storage(std::move(storage)),
      m_dtype(dtype),
      m_isSymbolic(sizes.isSymbolic() || strides.isSymbolic() || offset.isSymbolic()),
      m_sizes(std::move(sizes)),
      m_strides(std::move(strides)),
      m_offset(offset) {}

Sizes contiguousStrides(const Sizes& sizes) {
  Sizes strides(sizes.size());
  std::int64_t step = 1;  // stays at the largest number for absurd sizes, which are refused or have no elements
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    if (__builtin_mul_overflow(step, std::max<std::int64_t>(sizes[d], 1), &step))
      step = std::numeric_limits<std::int64_t>::max();
  }
  return strides;
}

SymSizes contiguousStrides(const SymSizes& sizes) {
  if (!sizes.isSymbolic()) return contiguousStrides(sizes.numbers());
  SymSizes strides(sizes.size());
  SymInt step = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    step *= symMax(sizes[d], 1);
  }
  return strides;
}

SymInt symProduct(const SymSizes& sizes) {
  SymInt product = 1;
  for (const SymInt size : sizes) product *= size;
  return product;
}

Result<std::int64_t> checkedNumel(const Sizes& sizes) {
  std::int64_t numel = 1;
  bool overflow = false;
  bool empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) return fail(ErrorCode::BadInput, "a tensor cannot have a dimension of size {}", size);
    empty |= size == 0;
    overflow |= __builtin_mul_overflow(numel, std::max<std::int64_t>(size, 1), &numel);
  }
  if (empty) return 0;
  if (overflow)
    return fail(ErrorCode::TooLarge, "a tensor of sizes [{}] has more than 2^63 elements", fmt::join(sizes, ", "));
  return numel;
}

Result<Tensor> Tensor::zeros(DType dtype, const Sizes& sizes) {
  KERF_TRY(const std::int64_t numel, checkedNumel(sizes));
  KERF_TRY(const std::int64_t bytes, bytesFor(numel, dtype));
  KERF_TRY(auto storage, Storage::allocate(bytes));
  return Tensor(std::move(storage), dtype, sizes, contiguousStrides(sizes));
}

Result<Tensor> Tensor::zerosStrided(DType dtype, const Sizes& sizes, const Sizes& strides) {
  if (sizes.size() != strides.size())
    return fail(ErrorCode::BadInput, "{} sizes but {} strides", sizes.size(), strides.size());
  KERF_CHECK(checkedNumel(sizes));
  for (const std::int64_t stride : strides)
    if (stride < 0) return fail(ErrorCode::BadInput, "a tensor cannot have stride {}", stride);
  KERF_TRY(const std::int64_t span, spanOf(sizes, strides));
  KERF_TRY(const std::int64_t bytes, bytesFor(span, dtype));
  KERF_TRY(auto storage, Storage::allocate(bytes));
  return Tensor(std::move(storage), dtype, sizes, strides);
}

Result<Tensor> emptyTensor(DType dtype, const Sizes& sizes) {
  KERF_TRY(const std::int64_t numel, checkedNumel(sizes));
  KERF_TRY(const std::int64_t bytes, bytesFor(numel, dtype));
  KERF_TRY(auto storage, emptyStorage(bytes));
  return Tensor(std::move(storage), dtype, sizes, contiguousStrides(sizes));
}

Result<Tensor> emptyTensor(DType dtype, const Sizes& sizes, const Sizes& strides) {
  if (sizes.size() != strides.size() || std::ranges::any_of(strides, [](std::int64_t s) { return s < 0; }))
    return Tensor::zerosStrided(dtype, sizes, strides);
  KERF_TRY(const std::int64_t numel, checkedNumel(sizes));
  KERF_TRY(const std::int64_t span, spanOf(sizes, strides));
  if (numel != span) return Tensor::zerosStrided(dtype, sizes, strides);
  KERF_TRY(const std::int64_t bytes, bytesFor(span, dtype));
  KERF_TRY(auto storage, emptyStorage(bytes));
  return Tensor(std::move(storage), dtype, sizes, strides);
}

Tensor Tensor::scalar(double value, DType dtype) { return makeScalar(value, dtype); }
Tensor Tensor::scalarInt(std::int64_t value, DType dtype) { return makeScalar(value, dtype); }

void Tensor::specialise() const {
  m_sizes.specialise();
  m_strides.specialise();
  m_offset = std::int64_t{m_offset};
  m_isSymbolic = false;
}

std::int64_t Tensor::numel() const {
  std::int64_t numel = 1;
  const Sizes& numbers = sizes();
  if (std::ranges::find(numbers, 0) != numbers.end()) return 0;  // whatever the other sizes are
  for (const std::int64_t size : numbers) numel *= size;
  return numel;
}

bool Tensor::isContiguous() const {
  if (m_isSymbolic) return isSymContiguous();
  const Sizes& sizes = m_sizes.numbers();
  const Sizes& strides = m_strides.numbers();
  std::int64_t expected = 1;
  bool contiguous = true;
  if (std::ranges::find(sizes, 0) != sizes.end()) return true;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) continue;
    contiguous &= strides[d] == expected;
    expected *= sizes[d];
  }
  return contiguous;
}

bool Tensor::isSymContiguous() const {
  SymInt expected = 1, counted = 1;  // `counted`: sizes that may be 0 count as 1, as contiguousStrides() has it
  for (const SymInt size : m_sizes)
    if (guardOrFalse(size == 0)) return true;
  for (std::size_t d = m_sizes.size(); d-- > 0;) {
    if (guardOrFalse(m_sizes[d] == 1)) continue;
    const bool isExpected = m_strides[d].isIdentical(counted) || guardOrFalse(m_strides[d] == expected);
    if (!isExpected) return false;
    expected *= m_sizes[d];
    counted *= symMax(m_sizes[d], 1);
  }
  return true;
}

Tensor Tensor::viewAs(SymSizes sizes, SymSizes strides, SymInt offset) const {
  Tensor view(m_storage, m_dtype, std::move(sizes), std::move(strides), offset);
  view.m_device = m_device;
  return view;
}

bool Tensor::inBounds() const {
  const Sizes& sizes = this->sizes();
  const Sizes& strides = this->strides();
  if (!defined() || offset() < 0 || sizes.size() != strides.size()) return false;
  std::int64_t last = offset();
  bool empty = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || strides[d] < 0) return false;
    empty |= sizes[d] == 0;
  }
  if (empty) return true;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(sizes[d] - 1, strides[d], &reach)) return false;
    if (__builtin_add_overflow(last, reach, &last)) return false;
  }
  return last < m_storage->bytes() / itemSize(m_dtype) && checkedNumel(sizes).has_value();
}

Result<Tensor> Tensor::contiguous() const {
  if (isContiguous()) return *this;
  return clone();
}

Result<Tensor> Tensor::clone() const {
  KERF_TRY(Tensor copy, emptyTensor(m_dtype, sizes()));
  KERF_CHECK(copyElements(*this, copy));
  copy.m_device = m_device;
  copy.requiresGrad = requiresGrad;
  copy.isLeaf = isLeaf;
  return copy;
}

Result<Tensor> Tensor::clonePreservingStrides() const {
  KERF_TRY(Tensor copy, zerosStrided(m_dtype, sizes(), strides()));
  if (copy.m_storage->bytes() > 0)  // gaps are copied too: they may be visible through another view
    std::memcpy(copy.m_storage->data(), m_storage->data() + offset() * itemSize(m_dtype),
                std::size_t(copy.m_storage->bytes()));
  copy.m_device = m_device;
  copy.requiresGrad = requiresGrad;
  copy.isLeaf = isLeaf;
  return copy;
}

Result<Tensor> Tensor::to(DType dtype) const {
  if (dtype == m_dtype) return *this;
  KERF_TRY(Tensor copy, emptyTensor(dtype, sizes()));
  KERF_CHECK(copyElements(*this, copy));
  copy.m_device = m_device;
  return copy;
}

double Tensor::itemAsDouble(std::int64_t index) const { return item<double>(*this, index); }
std::int64_t Tensor::itemAsInt(std::int64_t index) const { return item<std::int64_t>(*this, index); }

}  // namespace kerf::inline tensor
