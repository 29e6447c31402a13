// Ops that put elements elsewhere: cat, stack, repeat, flip, roll, pad, triangles.
#include <algorithm>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/index/views.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

/// A 1-d tensor without elements takes no part in cat.
bool skipped(const Tensor& tensor) { return tensor.dim() == 1 && guardOrFalse(tensor.symSize(0) == 0); }

Result<std::vector<Tensor>> parts(const BoundArguments& args) {
  std::vector<Tensor> tensors = args.tensors(0);
  if (tensors.empty()) return mismatch(args, "expects at least one tensor");
  return tensors;
}

DType commonType(const std::vector<Tensor>& tensors) {
  ResultType type;
  for (const Tensor& tensor : tensors) type.add(tensor);
  return type.dtype();
}

Result<void> checkCat(const BoundArguments& args, const SymSizes& first, const SymSizes& other, std::int64_t dim) {
  if (first.size() != other.size())
    return mismatch(args, "tensors must have as many dimensions: {} and {}", first.size(), other.size());
  for (std::size_t d = 0; d < first.size(); ++d)
    if (std::int64_t(d) != dim && !checkEqual(first[d], other[d]))
      return mismatch(args, "sizes must match except in dimension {}: [{}] and [{}]", dim, fmt::join(first, ", "),
                      fmt::join(other, ", "));
  return {};
}

/// Pairs first: a sum of symbols takes time linear in them, so that to add one after the other would be quadratic.
SymInt sumOf(SymSizes numbers) {
  for (; numbers.size() > 1; numbers.resize((numbers.size() + 1) / 2))
    for (std::size_t i = 0; i < numbers.size(); i += 2)
      numbers[i / 2] = i + 1 < numbers.size() ? numbers[i] + numbers[i + 1] : numbers[i];
  return numbers.empty() ? SymInt(0) : numbers[0];
}

Result<Value> catShape(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> tensors, parts(args));
  const auto used = std::ranges::find_if_not(tensors, skipped);
  if (used == tensors.end()) return Value(metaTensor(commonType(tensors), SymSizes{0}));
  if (used->dim() == 0) return mismatch(args, "tensors without dimensions cannot be concatenated");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), used->dim()));
  SymSizes sizes = used->symSizes(), lengths;
  std::optional<MemoryFormat> format;
  for (const Tensor& tensor : tensors) {
    const MemoryFormat own = suggestFormat(tensor);
    format = !format || *format == own ? own : MemoryFormat::Contiguous;
    if (skipped(tensor)) continue;
    KERF_CHECK(checkCat(args, used->symSizes(), tensor.symSizes(), dim));
    lengths.push_back(tensor.symSize(dim));
  }
  sizes[std::size_t(dim)] = sumOf(std::move(lengths));
  KERF_TRY(SymSizes strides, formatStrides(sizes, *format));
  return Value(metaTensor(commonType(tensors), std::move(sizes), std::move(strides)));
}

Tensor windowOf(const Tensor& out, std::int64_t dim, std::int64_t start, std::int64_t length) {
  Sizes sizes = out.sizes();
  sizes[std::size_t(dim)] = length;
  return out.viewAs(std::move(sizes), out.strides(), out.offset() + start * out.stride(dim));
}

Result<Value> catKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), out.dim()));
  std::int64_t start = 0;
  for (const Tensor& tensor : args.tensors(0)) {
    if (skipped(tensor)) continue;
    KERF_CHECK(copyElements(tensor, windowOf(out, dim, start, tensor.size(dim))));
    start += tensor.size(dim);
  }
  return Value(std::move(out));
}

Result<Value> stackShape(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> tensors, parts(args));
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), tensors[0].dim() + 1));
  SymSizes sizes = tensors[0].symSizes();
  for (const Tensor& tensor : tensors)
    if (!checkEqual(tensor.symSizes(), sizes))
      return mismatch(args, "tensors must have equal sizes: [{}] and [{}]", fmt::join(sizes, ", "),
                      fmt::join(tensor.symSizes(), ", "));
  sizes.insert(sizes.begin() + dim, std::int64_t(tensors.size()));
  return Value(metaTensor(commonType(tensors), sizes));
}

Result<Value> stackKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), out.dim()));
  Sizes strides = out.strides();
  strides.erase(strides.begin() + dim);
  std::int64_t position = 0;
  for (const Tensor& tensor : args.tensors(0))
    KERF_CHECK(copyElements(tensor, out.viewAs(tensor.sizes(), strides, out.offset() + position++ * out.stride(dim))));
  return Value(std::move(out));
}

// repeat(self, repeats)

SymSizes padded(const SymSizes& sizes, std::size_t rank) {
  SymSizes result(rank - sizes.size(), 1);
  result.append(sizes.begin(), sizes.end());
  return result;
}

Result<Value> repeatShape(const BoundArguments& args) {
  const SymSizes repeats = args.symSizes(1);
  if (repeats.size() < args.tensor(0).symSizes().size())
    return mismatch(args, "repeats has {} entries for {} dimensions", repeats.size(), args.tensor(0).dim());
  SymSizes sizes = padded(args.tensor(0).symSizes(), repeats.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!guardOrTrue(repeats[d] >= 0)) return mismatch(args, "repeat count {} is negative", repeats[d]);
    std::int64_t product = 0;
    const bool plain = !sizes[d].isSymbolic() && !repeats[d].isSymbolic();
    if (plain && __builtin_mul_overflow(sizes[d].bits(), repeats[d].bits(), &product))
      return fail(ErrorCode::TooLarge, "{}: size overflow", args.opName());
    sizes[d] *= repeats[d];
  }
  return Value(metaTensor(args.tensor(0).dtype(), sizes));
}

/// The output seen with every dimension split in (copy, element).
Result<Value> repeatKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  const Sizes repeats = args.sizes(1);
  const Sizes own = padded(self.sizes(), repeats.size());
  Sizes ownStrides(repeats.size() - self.sizes().size(), 0);
  ownStrides.insert(ownStrides.end(), self.strides().begin(), self.strides().end());
  Sizes sizes, from, to;
  for (std::size_t d = 0; d < own.size(); ++d) {
    sizes.insert(sizes.end(), {repeats[d], own[d]});
    from.insert(from.end(), {0, ownStrides[d]});
    to.insert(to.end(), {out.strides()[d] * own[d], out.strides()[d]});
  }
  if (out.numel() != 0)
    KERF_CHECK(copyElements(self.viewAs(sizes, from, self.offset()), out.viewAs(sizes, to, out.offset())));
  return Value(std::move(out));
}

// flip and roll

Result<Value> flipShape(const BoundArguments& args) {
  KERF_TRY(const Sizes dims, wrapDims(args, args.sizes(1), args.tensor(0).dim()));
  (void)dims;
  KERF_TRY(SymSizes strides, likeStrides(args.tensor(0), {}));
  return Value(metaTensor(args.tensor(0).dtype(), args.tensor(0).symSizes(), std::move(strides)));
}

Result<Value> flipKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Sizes dims, wrapDims(args, args.sizes(1), self.dim()));
  if (out.numel() == 0) return Value(std::move(out));
  Sizes strides = self.strides();
  std::int64_t offset = self.offset();
  for (std::int64_t dim : dims) {
    if (self.dim() == 0) break;
    offset += (self.size(dim) - 1) * self.stride(dim);
    strides[std::size_t(dim)] = -self.stride(dim);
  }
  KERF_CHECK(copyElements(self.viewAs(self.sizes(), strides, offset), out));
  return Value(std::move(out));
}

Result<Value> contiguousLike(const BoundArguments& args) {
  return Value(metaTensor(args.tensor(0).dtype(), args.tensor(0).symSizes()));
}

Result<Tensor> rollOne(const Tensor& self, std::int64_t dim, std::int64_t shift) {
  KERF_TRY(Tensor out, Tensor::zeros(self.dtype(), self.sizes()));
  const std::int64_t size = self.size(dim);
  if (size == 0) return out;
  const std::int64_t start = ((-shift % size) + size) % size;  // element that comes first
  KERF_CHECK(copyElements(windowOf(self, dim, start, size - start), windowOf(out, dim, 0, size - start)));
  KERF_CHECK(copyElements(windowOf(self, dim, 0, start), windowOf(out, dim, size - start, start)));
  return out;
}

Result<Value> rollKernel(const BoundArguments& args) {
  const Sizes shifts = args.sizes(1);
  KERF_TRY(Tensor current, args.tensor(0).clone());
  if (args.sizes(2).empty()) {
    if (shifts.size() != 1) return mismatch(args, "without dims there must be one shift, got {}", shifts.size());
    const Sizes sizes = current.sizes();
    const std::int64_t numel = current.numel();
    KERF_TRY(const Tensor rolled, rollOne(current.viewAs({numel}, {1}, current.offset()), 0, shifts[0]));
    return Value(rolled.viewAs(sizes, contiguousStrides(sizes), rolled.offset()));
  }
  if (shifts.size() != args.sizes(2).size())
    return mismatch(args, "{} shifts for {} dims", shifts.size(), args.sizes(2).size());
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    KERF_TRY(const std::int64_t dim, wrapDim(args, args.sizes(2)[i], current.dim()));
    if (current.dim() == 0) continue;
    KERF_TRY(current, rollOne(current, dim, shifts[i]));
  }
  return Value(std::move(current));
}

// tril, triu

template <bool lower>
Result<Value> triangleKernel(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() < 2) return mismatch(args, "needs at least 2 dimensions, got {}", self.dim());
  KERF_TRY(Tensor out, makeOutput(args));
  const std::int64_t rows = self.size(-2 + self.dim()), columns = self.size(-1 + self.dim());
  const std::int64_t diagonal = std::clamp<std::int64_t>(args.integer(1), -rows - 1, columns + 1);
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t begin = lower ? 0 : std::clamp<std::int64_t>(r + diagonal, 0, columns);
    const std::int64_t end = lower ? std::clamp<std::int64_t>(r + diagonal + 1, 0, columns) : columns;
    if (begin >= end) continue;
    const auto row = [&](const Tensor& tensor) {
      return windowOf(windowOf(tensor, tensor.dim() - 2, r, 1), tensor.dim() - 1, begin, end - begin);
    };
    KERF_CHECK(copyElements(row(self), row(out)));
  }
  return Value(std::move(out));
}

Result<Value> triangleShape(const BoundArguments& args) {
  if (args.tensor(0).dim() < 2) return mismatch(args, "needs at least 2 dimensions, got {}", args.tensor(0).dim());
  return contiguousLike(args);
}

// constant_pad_nd(self, pad, value): pairs from the last dimension inwards, negative ones crop

struct PadWindow {
  SymSizes before, after;
};

Result<PadWindow> padWindow(const BoundArguments& args) {
  const SymSizes pad = args.symSizes(1);
  const auto rank = std::size_t(args.tensor(0).dim());
  if (pad.size() % 2 != 0 || pad.size() / 2 > rank)
    return mismatch(args, "{} pad values for {} dimensions", pad.size(), rank);
  PadWindow window{SymSizes(rank, 0), SymSizes(rank, 0)};
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    window.before[rank - 1 - i] = pad[2 * i];
    window.after[rank - 1 - i] = pad[2 * i + 1];
  }
  return window;
}

/// Whether the sum of three numbers is no int64; of expressions nothing is said.
bool overflows(SymInt size, SymInt before, SymInt after) {
  if (size.isSymbolic() || before.isSymbolic() || after.isSymbolic()) return false;
  std::int64_t both = 0;
  return __builtin_add_overflow(before.bits(), after.bits(), &both) || __builtin_add_overflow(size.bits(), both, &both);
}

Result<Value> padShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const PadWindow window, padWindow(args));
  SymSizes sizes = self.symSizes();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (overflows(sizes[d], window.before[d], window.after[d]))
      return fail(ErrorCode::TooLarge, "{}: size overflow", args.opName());
    sizes[d] += window.before[d] + window.after[d];
    if (!guardOrTrue(sizes[d] >= 0)) return mismatch(args, "padding leaves size {} in dimension {}", sizes[d], d);
  }
  KERF_TRY(SymSizes strides, formatStrides(sizes, suggestFormat(self)));
  return Value(metaTensor(self.dtype(), std::move(sizes), std::move(strides)));
}

Result<Value> padKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const PadWindow window, padWindow(args));
  const Value& number = args.values[2];
  const Tensor fill = number.as<std::int64_t>() ? Tensor::scalarInt(*number.as<std::int64_t>(), out.dtype())
                                                : Tensor::scalar(args.number(2), out.dtype());
  KERF_CHECK(copyElements(fill.viewAs(out.sizes(), Sizes(out.sizes().size(), 0), 0), out));
  Tensor from = args.tensor(0), to = out;
  for (std::int64_t d = 0; d < out.dim(); ++d) {
    const std::int64_t before = window.before[std::size_t(d)], after = window.after[std::size_t(d)];
    const std::int64_t length = from.size(d) + std::min<std::int64_t>(before, 0) + std::min<std::int64_t>(after, 0);
    if (length <= 0) return Value(std::move(out));
    from = windowOf(from, d, std::max<std::int64_t>(-before, 0), length);
    to = windowOf(to, d, std::max<std::int64_t>(before, 0), length);
  }
  KERF_CHECK(copyElements(from, to));
  return Value(std::move(out));
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow moveRows[] = {
    {"aten::cat(Tensor[] tensors, int dim=0) -> Tensor", none, catShape, catKernel},
    {"aten::stack(Tensor[] tensors, int dim=0) -> Tensor", none, stackShape, stackKernel},
    {"aten::repeat(Tensor self, SymInt[] repeats) -> Tensor", none, repeatShape, repeatKernel},
    {"aten::flip(Tensor self, int[] dims) -> Tensor", none, flipShape, flipKernel},
    {"aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", none, contiguousLike, rollKernel},
    {"aten::tril(Tensor self, SymInt diagonal=0) -> Tensor", none, triangleShape, triangleKernel<true>},
    {"aten::triu(Tensor self, SymInt diagonal=0) -> Tensor", none, triangleShape, triangleKernel<false>},
    {"aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", none, padShape, padKernel},
};

const OpRegistration moveOps({.rows = moveRows});

}  // namespace

}  // namespace kerf::inline ops
