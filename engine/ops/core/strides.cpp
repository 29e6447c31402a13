#include "engine/ops/core/strides.h"

#include <algorithm>
#include <numeric>

#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline ops {
namespace {

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
int shouldSwap(std::span<const SymSizes> strides, const SymSizes& sizes, std::size_t inner, std::size_t outer) {
  for (const SymSizes& stride : strides) {
    const SymInt a = stride[inner];
    const SymInt b = stride[outer];
    if (guardOrFalse(a == 0) || guardOrFalse(b == 0)) continue;
    if (!guardOrFalse(a == b)) return guardOrTrue(a < b) ? -1 : 1;
    if (guardOrFalse(sizes[inner] > sizes[outer])) return 1;
  }
  return 0;
}

/// Dimensions, innermost first, by the operands' strides: an insertion sort, stable where strides are ambiguous.
std::vector<std::size_t> iterationOrder(std::span<const SymSizes> strides, const SymSizes& sizes) {
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

bool equalOrFalse(const SymSizes& a, const SymSizes& b) {
  return a.isIdentical(b) || (a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](SymInt x, SymInt y) {
                                return guardOrFalse(x == y);
                              }));
}

/// The cases in which all operands agree: contiguous, channels-last, or equal dense strides.
std::optional<SymSizes> agreedStrides(std::span<const Tensor> operands, const SymSizes& sizes) {
  const auto all = [&](auto&& predicate) { return std::ranges::all_of(operands, predicate); };
  if (!all([&](const Tensor& t) { return equalOrFalse(t.symSizes(), sizes); })) return {};
  if (all([](const Tensor& t) { return t.isContiguous(); })) return contiguousStrides(sizes);
  if (all([](const Tensor& t) { return isContiguousAs(t, MemoryFormat::ChannelsLast); }))
    return *formatStrides(sizes, MemoryFormat::ChannelsLast);
  const SymSizes& first = operands[0].symStrides();
  if (all([&](const Tensor& t) { return isNonOverlappingAndDense(t) && equalOrFalse(t.symStrides(), first); }))
    return first;
  return {};
}

}  // namespace

bool checkEqual(const SymSizes& a, const SymSizes& b) {
  return a.isIdentical(b) || (a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                                                 [](SymInt x, SymInt y) { return checkEqual(x, y); }));
}

Result<SymSizes> broadcastSizes(const SymSizes& a, const SymSizes& b) {
  SymSizes result = a.size() >= b.size() ? a : b;
  const SymSizes& other = a.size() >= b.size() ? b : a;
  const std::size_t shift = result.size() - other.size();
  for (std::size_t i = 0; i < other.size(); ++i) {
    SymInt& size = result[i + shift];
    if (size.isIdentical(other[i]) || guardOrFalse(other[i] == 1)) continue;
    if (guardOrFalse(size == 1)) {
      size = other[i];
      continue;
    }
    if (!checkEqual(size, other[i]))  // PyTorch asserts it at run time where it depends on data
      return fail(ErrorCode::ShapeMismatch, "shapes [{}] and [{}] do not broadcast", fmt::join(a, ", "),
                  fmt::join(b, ", "));
    if (size.isSymbolic() && !other[i].isSymbolic()) size = other[i];
  }
  return result;
}

Result<SymSizes> broadcastSizes(std::span<const Tensor> operands) {
  SymSizes result;
  for (const Tensor& operand : operands) {
    KERF_TRY(result, broadcastSizes(result, operand.symSizes()));
  }
  return result;
}

Result<SymInt> checkedCount(const SymSizes& sizes) {
  if (sizes.isSymbolic()) return symProduct(sizes);
  KERF_TRY(const std::int64_t count, checkedNumel(sizes.numbers()));
  return SymInt(count);
}

SymSizes broadcastStrides(const Tensor& tensor, const SymSizes& sizes) {
  SymSizes result(sizes.size(), 0);
  const SymSizes& own = tensor.symSizes();
  const std::size_t shift = sizes.size() - own.size();
  for (std::size_t i = shift; i < sizes.size(); ++i)
    if (guardOrFalse(own[i - shift] == sizes[i]) && !guardOrFalse(sizes[i] == 1))
      result[i] = tensor.symStrides()[i - shift];
  return result;
}

SymSizes elementwiseStrides(std::span<const Tensor> operands, const SymSizes& sizes) {
  if (operands.empty()) return contiguousStrides(sizes);
  if (auto agreed = agreedStrides(operands, sizes)) return *agreed;
  std::vector<SymSizes> strides;
  for (const Tensor& operand : operands) {
    SymSizes own(sizes.size(), 0);
    const SymSizes& operandSizes = operand.symSizes();
    const std::size_t shift = sizes.size() - operandSizes.size();
    for (std::size_t i = shift; i < sizes.size(); ++i)
      if (guardOrFalse(operandSizes[i - shift] == sizes[i]))
        own[i] = operand.symStrides()[i - shift] * itemSize(operand.dtype());
    strides.push_back(std::move(own));
  }
  const auto order = iterationOrder(strides, sizes);
  bool rowMajor = true;
  for (std::size_t i = 0; i < order.size(); ++i) rowMajor &= order[i] == order.size() - 1 - i;
  if (rowMajor) return contiguousStrides(sizes);
  SymSizes result(sizes.size());
  SymInt next = 1;
  for (std::size_t dim : order) {
    result[dim] = next;
    next *= sizes[dim];
  }
  return result;
}

bool isContiguousAs(const Tensor& tensor, MemoryFormat format) {
  const auto order = formatOrder(format, tensor.symSizes().size());
  if (!order) return false;
  SymInt expected = 1;
  for (std::size_t i = order->size(); i-- > 0;) {
    const SymInt size = tensor.symSizes()[(*order)[i]];
    if (guardOrFalse(size == 1)) continue;
    if (!guardOrFalse(tensor.symStrides()[(*order)[i]] == expected)) return false;
    expected *= size;
  }
  return true;
}

bool isInjective(const Sizes& sizes, const Sizes& strides) {
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1) order.push_back(d);
  std::ranges::sort(order, {}, [&](std::size_t d) { return strides[d]; });
  std::int64_t last = 0;
  for (const std::size_t d : order) {
    if (strides[d] <= last) return false;
    last += (sizes[d] - 1) * strides[d];
  }
  return true;
}

bool isNonOverlappingAndDense(const Tensor& tensor) {
  if (tensor.isContiguous()) return true;
  const SymSizes& sizes = tensor.symSizes();
  const SymSizes& strides = tensor.symStrides();
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {  // dimensions of one element last
    const bool first = guardOrFalse(sizes[a] < 2), second = guardOrFalse(sizes[b] < 2);
    return first != second ? second : guardOrFalse(strides[a] < strides[b]);
  });
  SymInt expected = 1;
  for (std::size_t dim : order) {
    if (guardOrFalse(sizes[dim] < 2)) return true;
    if (!guardOrFalse(strides[dim] == expected)) return false;
    expected *= sizes[dim];
  }
  return true;
}

Result<SymSizes> formatStrides(const SymSizes& sizes, MemoryFormat format) {
  const auto order = formatOrder(format, sizes.size());
  if (!order) return fail(ErrorCode::ShapeMismatch, "the memory format does not fit {} dimensions", sizes.size());
  SymSizes result(sizes.size());
  SymInt next = 1;
  for (std::size_t i = order->size(); i-- > 0;) {
    result[(*order)[i]] = next;
    next *= symMax(sizes[(*order)[i]], 1);  // sizes are checked when they are used
  }
  return result;
}

MemoryFormat suggestFormat(const Tensor& tensor) {
  for (auto [format, rank] : {std::pair(MemoryFormat::ChannelsLast, 4), std::pair(MemoryFormat::ChannelsLast3d, 5)}) {
    if (tensor.dim() != rank || guardOrFalse(tensor.symStride(1) == 0)) continue;
    SymInt minimum = 0;
    bool ordered = true;
    const auto order = *formatOrder(format, std::size_t(rank));
    for (std::size_t i = order.size(); i-- > 0 && ordered;) {
      const std::size_t dim = order[i];
      const SymInt size = tensor.symSizes()[dim];
      const SymInt stride = tensor.symStrides()[dim];
      ordered = guardOrTrue(size != 0) && guardOrFalse(stride >= minimum) &&
                !(i == 0 && guardOrFalse(minimum == tensor.symStride(1)));
      minimum = stride * symMax(size, 1);
    }
    if (ordered) return format;
  }
  return MemoryFormat::Contiguous;
}

Result<SymSizes> likeStrides(const Tensor& tensor, std::optional<MemoryFormat> format) {
  if (format.value_or(MemoryFormat::Preserve) != MemoryFormat::Preserve)
    return formatStrides(tensor.symSizes(), *format);
  if (isNonOverlappingAndDense(tensor)) return tensor.symStrides();
  return elementwiseStrides(std::span(&tensor, 1), tensor.symSizes());
}

namespace {

/// inferSize where some number is an expression: no count overflows, and what cannot be known is taken to fit.
Result<SymSizes> inferSymbolic(const BoundArguments& args, const SymSizes& sizes, SymInt numel) {
  SymSizes result = sizes;
  std::optional<std::size_t> unknown;
  SymInt count = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (guardOrFalse(sizes[i] == -1)) {
      if (unknown) return mismatch(args, "only one dimension can be -1");
      unknown = i;
      continue;
    }
    if (!guardOrTrue(sizes[i] >= 0)) return mismatch(args, "invalid size {} at dimension {}", sizes[i], i);
    count *= sizes[i];
  }
  const bool fits =
      unknown ? guardOrTrue(count != 0) && guardOrTrue(floorMod(numel, count) == 0) : guardOrTrue(count == numel);
  if (!fits) return mismatch(args, "shape [{}] is invalid for input of size {}", fmt::join(sizes, ", "), numel);
  if (unknown) result[*unknown] = floorDiv(numel, count);
  return result;
}

}  // namespace

Result<SymSizes> inferSize(const BoundArguments& args, const SymSizes& sizes, SymInt numel) {
  if (sizes.isSymbolic() || numel.isSymbolic()) return inferSymbolic(args, sizes, numel);
  Sizes result = sizes;
  std::optional<std::size_t> unknown;
  Sizes known;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] == -1 && unknown) return mismatch(args, "only one dimension can be -1");
    if (result[i] == -1)
      unknown = i;
    else if (result[i] < 0)
      return mismatch(args, "invalid size {} at dimension {}", result[i], i);
    else
      known.push_back(result[i]);
  }
  KERF_TRY(const std::int64_t count, checkedNumel(known));
  const std::int64_t elements = numel;
  const auto bad = [&] {
    return mismatch(args, "shape [{}] is invalid for input of size {}", fmt::join(sizes, ", "), elements);
  };
  if (!unknown) {
    if (count != elements) return bad();
    return SymSizes(std::move(result));
  }
  if (count == 0 || elements % count != 0) return bad();
  result[*unknown] = elements / count;
  return SymSizes(std::move(result));
}

std::optional<SymSizes> viewStrides(const Tensor& tensor, const SymSizes& sizes) {
  const SymSizes& oldSizes = tensor.symSizes();
  const SymSizes& oldStrides = tensor.symStrides();
  const SymInt numel = symProduct(oldSizes);
  const bool isEmpty = guardOrFalse(numel == 0);
  if (isEmpty && oldSizes == sizes) return oldStrides;
  if (oldSizes.empty()) return SymSizes(sizes.size(), 1);
  if (isEmpty) return contiguousStrides(sizes);
  if (oldSizes.isIdentical(sizes)) return oldStrides;
  if ((oldSizes.isSymbolic() || sizes.isSymbolic()) && tensor.isContiguous()) return contiguousStrides(sizes);
  SymSizes result(sizes.size());
  auto view = std::int64_t(sizes.size()) - 1;
  SymInt chunkStride = oldStrides.back();
  SymInt chunk = 1;
  SymInt viewChunk = 1;
  for (std::size_t d = oldSizes.size(); d-- > 0;) {
    chunk *= oldSizes[d];
    if (d != 0 && (guardOrFalse(oldSizes[d - 1] == 1) || guardOrFalse(oldStrides[d - 1] == chunk * chunkStride)))
      continue;
    for (; view >= 0 && (guardOrFalse(viewChunk < chunk) || guardOrFalse(sizes[std::size_t(view)] == 1)); --view) {
      result[std::size_t(view)] = viewChunk * chunkStride;
      viewChunk *= sizes[std::size_t(view)];
    }
    if (!guardOrFalse(viewChunk == chunk)) return {};
    if (d == 0) break;
    chunkStride = oldStrides[d - 1];
    chunk = viewChunk = 1;
  }
  if (view != -1) return {};
  return result;
}

}  // namespace kerf::inline ops
