#include "engine/ops/core/strides.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "engine/ops/pointwise/element_math.h"

namespace kerf::inline ops {
namespace {

std::int64_t product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

/// Order of dimensions of a format, outermost first.
std::optional<std::vector<std::size_t>> formatOrder(MemoryFormat format, std::size_t rank) {
  if (format == MemoryFormat::ChannelsLast && rank == 4) return std::vector<std::size_t>{0, 2, 3, 1};
  if (format == MemoryFormat::ChannelsLast3d && rank == 5) return std::vector<std::size_t>{0, 2, 3, 4, 1};
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) {
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  return {};
}

/// -1: `outer` may stay outside of `inner`; 1: they should swap; 0: the operands do not say.
int shouldSwap(std::span<const Sizes> strides, const Sizes& sizes, std::size_t inner, std::size_t outer) {
  for (const Sizes& stride : strides) {
    const std::int64_t a = stride[inner];
    const std::int64_t b = stride[outer];
    if (a == 0 || b == 0) continue;
    if (a != b) return a < b ? -1 : 1;
    if (sizes[inner] > sizes[outer]) return 1;
  }
  return 0;
}

/// Dimensions, innermost first, by the operands' strides: an insertion sort, stable where strides are ambiguous.
std::vector<std::size_t> iterationOrder(std::span<const Sizes> strides, const Sizes& sizes) {
  std::vector<std::size_t> order(sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t moving = i;
    for (std::size_t j = i; j-- > 0;) {
      const int verdict = shouldSwap(strides, sizes, order[j], order[moving]);
      if (verdict > 0)
        std::swap(order[j], order[std::exchange(moving, j)]);
      else if (verdict < 0)
        break;
    }
  }
  return order;
}

/// The cases in which all operands agree: contiguous, channels-last, or equal dense strides.
std::optional<Sizes> agreedStrides(std::span<const Tensor> operands, const Sizes& sizes) {
  const auto all = [&](auto&& predicate) { return std::ranges::all_of(operands, predicate); };
  if (!all([&](const Tensor& t) { return t.sizes() == sizes; })) return {};
  if (all([](const Tensor& t) { return t.isContiguous(); })) return contiguousStrides(sizes);
  if (all([](const Tensor& t) { return isContiguousAs(t, MemoryFormat::ChannelsLast); }))
    return *formatStrides(sizes, MemoryFormat::ChannelsLast);
  const Sizes& first = operands[0].strides();
  if (all([&](const Tensor& t) { return isNonOverlappingAndDense(t) && t.strides() == first; })) return first;
  return {};
}

}  // namespace

Result<Sizes> broadcastSizes(const Sizes& a, const Sizes& b) {
  Sizes result = a.size() >= b.size() ? a : b;
  const Sizes& other = a.size() >= b.size() ? b : a;
  const std::size_t shift = result.size() - other.size();
  for (std::size_t i = 0; i < other.size(); ++i) {
    std::int64_t& size = result[i + shift];
    if (size == other[i] || other[i] == 1) continue;
    if (size != 1)
      return fail(ErrorCode::ShapeMismatch, "shapes [{}] and [{}] do not broadcast", fmt::join(a, ", "),
                  fmt::join(b, ", "));
    size = other[i];
  }
  return result;
}

Result<Sizes> broadcastSizes(std::span<const Tensor> operands) {
  Sizes result;
  for (const Tensor& operand : operands) {
    KERF_TRY(result, broadcastSizes(result, operand.sizes()));
  }
  return result;
}

Sizes broadcastStrides(const Tensor& tensor, const Sizes& sizes) {
  Sizes result(sizes.size(), 0);
  const std::size_t shift = sizes.size() - tensor.sizes().size();
  for (std::size_t i = shift; i < sizes.size(); ++i)
    if (tensor.sizes()[i - shift] == sizes[i] && sizes[i] != 1) result[i] = tensor.strides()[i - shift];
  return result;
}

Sizes elementwiseStrides(std::span<const Tensor> operands, const Sizes& sizes) {
  if (operands.empty()) return contiguousStrides(sizes);
  if (auto agreed = agreedStrides(operands, sizes)) return *agreed;
  std::vector<Sizes> strides;
  for (const Tensor& operand : operands) {
    Sizes own(sizes.size(), 0);
    const std::size_t shift = sizes.size() - operand.sizes().size();
    for (std::size_t i = shift; i < sizes.size(); ++i)
      if (operand.sizes()[i - shift] == sizes[i])
        own[i] = operand.strides()[i - shift] * itemSize(operand.dtype());
      else
        own[i] = 0;
    strides.push_back(std::move(own));
  }
  const auto order = iterationOrder(strides, sizes);
  bool rowMajor = true;
  for (std::size_t i = 0; i < order.size(); ++i) rowMajor &= order[i] == order.size() - 1 - i;
  if (rowMajor) return contiguousStrides(sizes);
  Sizes result(sizes.size());
  std::int64_t next = 1;
  for (std::size_t dim : order) {
    result[dim] = next;
    next *= sizes[dim];
  }
  return result;
}

bool isContiguousAs(const Tensor& tensor, MemoryFormat format) {
  const auto order = formatOrder(format, tensor.sizes().size());
  if (!order) return false;
  std::int64_t expected = 1;
  for (std::size_t i = order->size(); i-- > 0;) {
    const std::int64_t size = tensor.sizes()[(*order)[i]];
    if (size == 1) continue;
    if (tensor.strides()[(*order)[i]] != expected) return false;
    expected *= size;
  }
  return true;
}

bool isNonOverlappingAndDense(const Tensor& tensor) {
  if (tensor.isContiguous()) return true;
  std::vector<std::size_t> order(tensor.sizes().size());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](std::size_t d) {  // dimensions of one element last
    return std::tuple(tensor.sizes()[d] < 2, tensor.strides()[d], d);
  };
  std::ranges::sort(order, {}, rank);
  std::int64_t expected = 1;
  for (std::size_t dim : order) {
    if (tensor.sizes()[dim] < 2) return true;
    if (tensor.strides()[dim] != expected) return false;
    expected *= tensor.sizes()[dim];
  }
  return true;
}

Result<Sizes> formatStrides(const Sizes& sizes, MemoryFormat format) {
  const auto order = formatOrder(format, sizes.size());
  if (!order) return fail(ErrorCode::ShapeMismatch, "the memory format does not fit {} dimensions", sizes.size());
  Sizes result(sizes.size());
  std::int64_t next = 1;
  for (std::size_t i = order->size(); i-- > 0;) {
    result[(*order)[i]] = next;
    next = element::mul(next, std::max<std::int64_t>(sizes[(*order)[i]], 1));  // sizes are checked when they are used
  }
  return result;
}

MemoryFormat suggestFormat(const Tensor& tensor) {
  for (auto [format, rank] : {std::pair(MemoryFormat::ChannelsLast, 4), std::pair(MemoryFormat::ChannelsLast3d, 5)}) {
    if (tensor.dim() != rank || tensor.stride(1) == 0) continue;
    std::int64_t minimum = 0;
    bool ordered = true;
    const auto order = *formatOrder(format, std::size_t(rank));
    for (std::size_t i = order.size(); i-- > 0 && ordered;) {
      const std::size_t dim = order[i];
      const std::int64_t size = tensor.sizes()[dim];
      ordered = size != 0 && tensor.strides()[dim] >= minimum && !(i == 0 && minimum == tensor.stride(1));
      minimum = tensor.strides()[dim] * std::max<std::int64_t>(size, 1);
    }
    if (ordered) return format;
  }
  return MemoryFormat::Contiguous;
}

Result<Sizes> likeStrides(const Tensor& tensor, std::optional<MemoryFormat> format) {
  if (format.value_or(MemoryFormat::Preserve) != MemoryFormat::Preserve) return formatStrides(tensor.sizes(), *format);
  if (isNonOverlappingAndDense(tensor)) return tensor.strides();
  return elementwiseStrides(std::span(&tensor, 1), tensor.sizes());
}

Result<Sizes> inferSize(const BoundArguments& args, const Sizes& sizes, std::int64_t numel) {
  Sizes result = sizes;
  std::optional<std::size_t> unknown;
  Sizes known;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && unknown) return mismatch(args, "only one dimension can be -1");
    if (sizes[i] == -1)
      unknown = i;
    else if (sizes[i] < 0)
      return mismatch(args, "invalid size {} at dimension {}", sizes[i], i);
    else
      known.push_back(sizes[i]);
  }
  KERF_TRY(const std::int64_t count, checkedNumel(known));
  const auto bad = [&] {
    return mismatch(args, "shape [{}] is invalid for input of size {}", fmt::join(sizes, ", "), numel);
  };
  if (!unknown) {
    if (count != numel) return bad();
    return result;
  }
  if (count == 0 || numel % count != 0) return bad();
  result[*unknown] = numel / count;
  return result;
}

std::optional<Sizes> viewStrides(const Tensor& tensor, const Sizes& sizes) {
  const Sizes& oldSizes = tensor.sizes();
  const Sizes& oldStrides = tensor.strides();
  const std::int64_t numel = product(oldSizes);
  if (numel == 0 && oldSizes == sizes) return oldStrides;
  if (oldSizes.empty()) return Sizes(sizes.size(), 1);
  if (numel == 0) return contiguousStrides(sizes);
  Sizes result(sizes.size());
  auto view = std::int64_t(sizes.size()) - 1;
  std::int64_t chunkStride = oldStrides.back();
  std::int64_t chunk = 1;
  std::int64_t viewChunk = 1;
  for (std::size_t d = oldSizes.size(); d-- > 0;) {
    chunk *= oldSizes[d];
    if (d != 0 && (oldSizes[d - 1] == 1 || oldStrides[d - 1] == chunk * chunkStride)) continue;
    for (; view >= 0 && (viewChunk < chunk || sizes[std::size_t(view)] == 1); --view) {
      result[std::size_t(view)] = viewChunk * chunkStride;
      viewChunk *= sizes[std::size_t(view)];
    }
    if (viewChunk != chunk) return {};
    if (d == 0) break;
    chunkStride = oldStrides[d - 1];
    chunk = viewChunk = 1;
  }
  if (view != -1) return {};
  return result;
}

}  // namespace kerf::inline ops
