#include "engine/ops/index/views.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/core/written_operands.h"

namespace kerf::inline ops {
namespace {

Value meta(const Tensor& self, SymSizes sizes, SymSizes strides) {
  return metaTensor(self.dtype(), std::move(sizes), std::move(strides), self.symOffset());
}
Value meta(const Tensor& view) {
  return metaTensor(view.dtype(), view.symSizes(), view.symStrides(), view.symOffset());
}

Result<Value> metaOf(Result<Tensor> view) {
  if (!view) return fail(std::move(view).error());
  return meta(*view);
}

Result<Value> aliasShape(const BoundArguments& args) { return meta(args.tensor(0)); }

Result<SymInt> numelOf(const Tensor& tensor) {
  if (tensor.isSymbolic()) return tensor.symNumel();
  KERF_TRY(const std::int64_t numel, checkedNumel(tensor.sizes()));
  return SymInt(numel);
}

Result<Value> viewShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const SymInt numel, numelOf(self));
  KERF_TRY(SymSizes sizes, inferSize(args, args.symSizes(1), numel));
  auto strides = viewStrides(self, sizes);
  if (!strides)
    return mismatch(args, "size [{}] and strides [{}] cannot be viewed as [{}] without a copy",
                    fmt::join(self.symSizes(), ", "), fmt::join(self.symStrides(), ", "), fmt::join(sizes, ", "));
  return meta(self, std::move(sizes), std::move(*strides));
}

/// A view where possible, else a contiguous copy.
Result<Value> reshapeShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const SymInt numel, numelOf(self));
  KERF_TRY(SymSizes sizes, inferSize(args, args.symSizes(1), numel));
  if (auto strides = viewStrides(self, sizes)) return meta(self, std::move(sizes), std::move(*strides));
  return Value(metaTensor(self.dtype(), sizes));
}

Result<Value> reshapeKernel(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Value shape, runShapeRule(args));
  const Sizes& sizes = shape.tensor().sizes();
  if (viewStrides(self, sizes)) return viewOf(self, sizes, shape.tensor().strides(), self.offset());
  KERF_TRY(const Tensor copy, self.clone());
  return viewOf(copy, sizes, contiguousStrides(sizes), copy.offset());
}

Result<Value> permuteShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (args.sizes(1).size() != self.symSizes().size())
    return mismatch(args, "argument 'dims' names {} dimensions, the tensor has {}", args.sizes(1).size(), self.dim());
  KERF_TRY(const Sizes order, wrapDims(args, args.sizes(1), self.dim()));
  return meta(permuteView(self, order));
}

Result<Value> transposeShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t a, wrapDim(args, args.integer(1), self.dim()));
  KERF_TRY(const std::int64_t b, wrapDim(args, args.integer(2), self.dim()));
  Sizes order(self.symSizes().size());
  std::iota(order.begin(), order.end(), 0);
  if (!order.empty()) std::swap(order[std::size_t(a)], order[std::size_t(b)]);
  return meta(permuteView(self, order));
}

Result<Value> tShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() > 2) return mismatch(args, "expects at most 2 dimensions, got {}", self.dim());
  return meta(permuteView(self, self.dim() == 2 ? Sizes{1, 0} : self.dim() == 1 ? Sizes{0} : Sizes{}));
}

Result<Value> expandShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  SymSizes sizes = args.symSizes(1);
  if (sizes.size() < self.symSizes().size())
    return mismatch(args, "{} sizes given for a tensor of {} dimensions", sizes.size(), self.dim());
  SymSizes strides(sizes.size());
  const std::size_t shift = sizes.size() - self.symSizes().size();
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const bool added = i < shift;
    const SymInt own = added ? SymInt(1) : self.symSizes()[i - shift];
    const SymInt addedStride = i + 1 < sizes.size() ? sizes[i + 1] * strides[i + 1] : SymInt(1);
    strides[i] = added ? addedStride : self.symStrides()[i - shift];
    const bool kept = guardOrFalse(sizes[i] == -1);
    if (kept && added) return mismatch(args, "-1 is not allowed in a new leading dimension");
    if (kept) sizes[i] = own;
    if (!guardOrTrue(sizes[i] >= 0)) return mismatch(args, "size {} is negative", sizes[i]);
    if (sizes[i].isIdentical(own) || guardOrFalse(sizes[i] == own)) continue;
    if (guardOrFalse(own == 1)) {
      strides[i] = 0;
      continue;
    }
    if (!checkEqual(sizes[i], own))
      return mismatch(args, "size {} does not match the tensor's size {} in dimension {}", sizes[i], own, i);
  }
  return meta(self, std::move(sizes), std::move(strides));
}

Result<Value> unsqueezeShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim() + 1));
  SymSizes sizes = self.symSizes();
  SymSizes strides = self.symStrides();
  const SymInt stride = dim >= self.dim() ? SymInt(1) : self.symSize(dim) * self.symStride(dim);
  sizes.insert(sizes.begin() + dim, 1);
  strides.insert(strides.begin() + dim, stride);
  return meta(self, std::move(sizes), std::move(strides));
}

Value squeezed(const Tensor& self, const std::function<bool(std::int64_t)>& wanted) {
  SymSizes sizes, strides;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (wanted(d) && guardOrFalse(self.symSize(d) == 1)) continue;
    sizes.push_back(self.symSize(d));
    strides.push_back(self.symStride(d));
  }
  return meta(self, std::move(sizes), std::move(strides));
}

Result<Value> squeezeShape(const BoundArguments& args) {
  return squeezed(args.tensor(0), [](std::int64_t) { return true; });
}
Result<Value> squeezeDimsShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  const Sizes given = args.values[1].isList() ? args.sizes(1) : Sizes{args.integer(1)};
  KERF_TRY(const Sizes dims, wrapDims(args, given, self.dim()));
  return squeezed(self, [&](std::int64_t d) { return std::ranges::find(dims, d) != dims.end(); });
}

Result<Value> selectShape(const BoundArguments& args) {
  return metaOf(selectView(args, args.tensor(0), args.integer(1), args.symInteger(2)));
}
Result<Value> sliceShape(const BoundArguments& args) {
  return metaOf(
      sliceView(args, args.tensor(0), args.integer(1), args.symIntegerIf(2), args.symIntegerIf(3), args.symInteger(4)));
}
Result<Value> narrowShape(const BoundArguments& args) {
  const SymInt start = args.symInteger(2), length = args.symInteger(3);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), args.tensor(0).dim()));
  const SymInt size = args.tensor(0).dim() == 0 ? SymInt(0) : args.tensor(0).symSize(dim);
  const SymInt begin = guardOrFalse(start < 0) ? start + size : start;
  if (!checkAtMost(0, length) || !guardOrTrue(begin >= 0) || !checkAtMost(begin, size) ||
      !checkAtMost(length, size - begin))
    return mismatch(args, "start {} and length {} exceed dimension size {}", start, length, size);
  return metaOf(partView(args, args.tensor(0), dim, begin, length));
}
Result<Value> diagonalShape(const BoundArguments& args) {
  return metaOf(diagonalView(args, args.tensor(0), args.integer(1), args.integer(2), args.integer(3)));
}

Result<Value> asStridedShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  SymSizes sizes = args.symSizes(1);
  SymSizes strides = args.symSizes(2);
  if (sizes.size() != strides.size()) return mismatch(args, "size and stride differ in length");
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (!guardOrTrue(sizes[i] >= 0) || !guardOrTrue(strides[i] >= 0))
      return mismatch(args, "negative size or stride in dimension {}", i);
  const SymInt offset = args.symIntegerIf(3).value_or(self.symOffset());
  if (!guardOrTrue(offset >= 0)) return mismatch(args, "negative storage offset {}", offset);
  return Value(metaTensor(self.dtype(), std::move(sizes), std::move(strides), offset));
}

Result<Value> splitInto(const BoundArguments& args, const SymSizes& lengths, std::int64_t dim) {
  ValueList parts;
  SymInt begin = 0;
  for (const SymInt length : lengths) {
    KERF_TRY(Value part, metaOf(partView(args, args.tensor(0), dim, begin, length)));
    parts.push_back(std::move(part));
    begin += length;
  }
  return Value(std::move(parts));
}

/// Lengths of the parts of `size` that have `piece` elements each, but for the last. How many there are must be a
/// number: the graph has as many results.
SymSizes pieces(SymInt size, SymInt piece) {
  if (piece == 0) return {size};
  const std::int64_t count = std::max<std::int64_t>(1, ceilDiv(size, piece));
  SymSizes lengths(std::size_t(count), piece);
  lengths.back() = piece - (piece * count - size);
  return lengths;
}

Result<Value> splitShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "cannot split a tensor without dimensions");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  const SymInt piece = args.symInteger(1), size = self.symSize(dim);
  if (piece < 0 || (piece == 0 && size != 0)) return mismatch(args, "split size must be positive, got {}", piece);
  return splitInto(args, pieces(size, piece), dim);
}

Result<Value> chunkShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0 || args.integer(1) <= 0) return mismatch(args, "needs a dimension and a positive chunk count");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  const SymInt size = self.symSize(dim);
  return splitInto(args, pieces(size, ceilDiv(size, args.integer(1))), dim);
}

Result<Value> splitWithSizesShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "cannot split a tensor without dimensions");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  const SymSizes lengths = args.symSizes(1);
  const bool plain = !lengths.isSymbolic() && !self.symSize(dim).isSymbolic();
  SymInt total = 0;
  for (const SymInt length : lengths) {
    if (!checkAtMost(0, length) || (plain && length > self.symSize(dim) - total))
      return mismatch(args, "split sizes do not sum to {}", self.symSize(dim));
    total += length;
  }
  if (!checkEqual(total, self.symSize(dim)))
    return mismatch(args, "split sizes sum to {}, the dimension has {}", total, self.symSize(dim));
  return splitInto(args, lengths, dim);
}

Result<Value> unbindShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "cannot unbind a tensor without dimensions");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  ValueList parts;
  const std::int64_t count = self.symSize(dim);  // a number, as the graph has as many results
  for (std::int64_t i = 0; i < count; ++i) {
    KERF_TRY(Value part, metaOf(selectView(args, self, dim, i)));
    parts.push_back(std::move(part));
  }
  return Value(std::move(parts));
}

Result<Value> unfoldShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  KERF_TRY(const Tensor view, unfoldView(args, self, dim, args.integer(2), args.integer(3)));
  return meta(view);
}

/// Elements of fewer bytes: the last dimension has `ratio` times as many.
Result<Value> splitElements(const Tensor& self, DType dtype, std::int64_t ratio) {
  SymSizes sizes = self.symSizes(), strides = self.symStrides();
  for (std::size_t i = 0; i + 1 < strides.size(); ++i) strides[i] = strides[i] * SymInt(ratio);
  sizes.back() = sizes.back() * SymInt(ratio);
  return Value(metaTensor(dtype, std::move(sizes), std::move(strides), self.symOffset() * SymInt(ratio)));
}

/// Elements of more bytes: each is made of `ratio` of the last dimension, which must fit.
Result<Value> joinElements(const BoundArguments& args, DType dtype, std::int64_t ratio) {
  const Tensor& self = args.tensor(0);
  SymSizes sizes = self.symSizes(), strides = self.symStrides();
  const auto divided = [&](SymInt& number) {
    if (!checkEqual(floorMod(number, SymInt(ratio)), SymInt(0))) return false;
    number = floorDiv(number, SymInt(ratio));
    return true;
  };
  SymInt offset = self.symOffset();
  if (!divided(sizes.back()))
    return mismatch(args,
                    "self.size(-1) must be divisible by {} to view {} as {} (different element sizes), but got {}",
                    ratio, dtypeInfo(self.dtype()).torchName, dtypeInfo(dtype).torchName, self.symSizes().back());
  bool fits = divided(offset);
  for (std::size_t i = 0; i + 1 < strides.size(); ++i) fits = fits && divided(strides[i]);
  if (!fits)
    return mismatch(args,
                    "storage_offset and strides must be divisible by {} to view {} as {} (different element sizes)",
                    ratio, dtypeInfo(self.dtype()).torchName, dtypeInfo(dtype).torchName);
  return Value(metaTensor(dtype, std::move(sizes), std::move(strides), offset));
}

Result<Value> viewDtypeShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  const DType dtype = *args.dtypeIf(1);
  const auto to = std::int64_t(itemSize(dtype)), from = std::int64_t(itemSize(self.dtype()));
  if (to == from) return Value(metaTensor(dtype, self.symSizes(), self.symStrides(), self.symOffset()));
  const std::string_view names[] = {dtypeInfo(self.dtype()).torchName, dtypeInfo(dtype).torchName};
  if (self.dim() == 0)
    return mismatch(args, "self.dim() cannot be 0 to view {} as {} (different element sizes)", names[0], names[1]);
  if (!checkEqual(self.symStrides().back(), SymInt(1)))
    return mismatch(args, "self.stride(-1) must be 1 to view {} as {} (different element sizes), but got {}", names[0],
                    names[1], self.symStrides().back());
  return to < from ? splitElements(self, dtype, from / to) : joinElements(args, dtype, to / from);
}

/// Bools that hold 0 or 1 in each byte, as all of Kerf reads them.
bool holdsBools(const Tensor& tensor) {
  const Tensor bytes(tensor.storage(), DType::UInt8, tensor.sizes(), tensor.strides(), tensor.offset());
  const auto dense = bytes.contiguous();
  return dense && std::ranges::all_of(std::span(dense->data<std::uint8_t>(), std::size_t(dense->numel())),
                                      [](std::uint8_t byte) { return byte <= 1; });
}

/// PyTorch reads every byte but 0 as True. Bytes that are neither 0 nor 1 are copied as 1: the copy cannot be written.
Result<Value> viewDtypeKernel(const BoundArguments& args) {
  KERF_TRY(const Value view, viewKernel(args));
  if (view.tensor().dtype() != DType::Bool || args.tensor(0).dtype() == DType::Bool || holdsBools(view.tensor()))
    return view;
  KERF_TRY(Tensor copy, view.tensor().clonePreservingStrides());
  const Storage& storage = *copy.storage();
  for (std::byte& byte : std::span(storage.data(), std::size_t(storage.bytes()))) byte = std::byte(byte != std::byte{});
  refuseWrites(copy.storage());
  return Value(std::move(copy));
}

constexpr OpRow view(const char* schema, ShapeRule shape) { return {schema, OpTrait::View, shape, viewKernel}; }

constexpr OpRow viewRows[] = {
    view("aten::alias(Tensor(a) self) -> Tensor(a)", aliasShape),
    view("aten::detach(Tensor(a) self) -> Tensor(a)", aliasShape),
    view("aten::lift_fresh(Tensor(a) self) -> Tensor(a)", aliasShape),
    view("aten::lift(Tensor self) -> Tensor", aliasShape),
    view("aten::positive(Tensor(a) self) -> Tensor(a)", aliasShape),
    view("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", viewShape),
    {"aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", OpTrait::View, viewDtypeShape, viewDtypeKernel},
    view("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", viewShape),
    {"aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", OpTrait::View, reshapeShape, reshapeKernel},
    view("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", permuteShape),
    view("aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transposeShape),
    view("aten::t(Tensor(a) self) -> Tensor(a)", tShape),
    view("aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", expandShape),
    view("aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", unsqueezeShape),
    view("aten::squeeze(Tensor(a) self) -> Tensor(a)", squeezeShape),
    view("aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", squeezeDimsShape),
    view("aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", squeezeDimsShape),
    view("aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", selectShape),
    view("aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> "
         "Tensor(a)",
         sliceShape),
    view("aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)", narrowShape),
    view("aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", diagonalShape),
    view("aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
         asStridedShape),
    view("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]", splitShape),
    view("aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
         splitWithSizesShape),
    view("aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", splitShape),
    view("aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
         splitWithSizesShape),
    view("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", chunkShape),
    view("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", unbindShape),
    view("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", unfoldShape),
};

const OpRegistration viewOps({.rows = viewRows});

}  // namespace

}  // namespace kerf::inline ops
