#include "engine/ops/index/views.h"

#include <algorithm>
#include <numeric>

#include "engine/ops/core/op_row.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/pointwise/element_math.h"

namespace kerf::inline ops {
namespace {

Value meta(const Tensor& self, Sizes sizes, Sizes strides) {
  return metaTensor(self.dtype(), std::move(sizes), std::move(strides), self.offset());
}
Value meta(const Tensor& view) { return metaTensor(view.dtype(), view.sizes(), view.strides(), view.offset()); }

Result<Value> metaOf(Result<Tensor> view) {
  if (!view) return fail(std::move(view).error());
  return meta(*view);
}

Result<Value> aliasShape(const BoundArguments& args) { return meta(args.tensor(0)); }

Result<std::int64_t> numelOf(const Tensor& tensor) { return checkedNumel(tensor.sizes()); }

Result<Value> viewShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t numel, numelOf(self));
  KERF_TRY(Sizes sizes, inferSize(args, args.sizes(1), numel));
  auto strides = viewStrides(self, sizes);
  if (!strides)
    return mismatch(args, "size [{}] and strides [{}] cannot be viewed as [{}] without a copy",
                    fmt::join(self.sizes(), ", "), fmt::join(self.strides(), ", "), fmt::join(sizes, ", "));
  return meta(self, std::move(sizes), std::move(*strides));
}

/// A view where possible, else a contiguous copy.
Result<Value> reshapeShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t numel, numelOf(self));
  KERF_TRY(Sizes sizes, inferSize(args, args.sizes(1), numel));
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
  if (args.sizes(1).size() != self.sizes().size())
    return mismatch(args, "argument 'dims' names {} dimensions, the tensor has {}", args.sizes(1).size(), self.dim());
  KERF_TRY(const Sizes order, wrapDims(args, args.sizes(1), self.dim()));
  return meta(permuteView(self, order));
}

Result<Value> transposeShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t a, wrapDim(args, args.integer(1), self.dim()));
  KERF_TRY(const std::int64_t b, wrapDim(args, args.integer(2), self.dim()));
  Sizes order(self.sizes().size());
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
  Sizes sizes = args.sizes(1);
  if (sizes.size() < self.sizes().size())
    return mismatch(args, "{} sizes given for a tensor of {} dimensions", sizes.size(), self.dim());
  Sizes strides(sizes.size());
  const std::size_t shift = sizes.size() - self.sizes().size();
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const bool added = i < shift;
    const std::int64_t own = added ? 1 : self.sizes()[i - shift];
    const std::int64_t addedStride = i + 1 < sizes.size() ? sizes[i + 1] * strides[i + 1] : 1;
    strides[i] = added ? addedStride : self.strides()[i - shift];
    if (sizes[i] == -1 && added) return mismatch(args, "-1 is not allowed in a new leading dimension");
    if (sizes[i] == -1) sizes[i] = own;
    if (sizes[i] < 0) return mismatch(args, "size {} is negative", sizes[i]);
    if (sizes[i] == own) continue;
    if (own != 1)
      return mismatch(args, "size {} does not match the tensor's size {} in dimension {}", sizes[i], own, i);
    strides[i] = 0;
  }
  return meta(self, std::move(sizes), std::move(strides));
}

Result<Value> unsqueezeShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim() + 1));
  Sizes sizes = self.sizes();
  Sizes strides = self.strides();
  const std::int64_t stride = dim >= self.dim() ? 1 : self.size(dim) * self.stride(dim);
  sizes.insert(sizes.begin() + dim, 1);
  strides.insert(strides.begin() + dim, stride);
  return meta(self, std::move(sizes), std::move(strides));
}

Value squeezed(const Tensor& self, const std::function<bool(std::int64_t)>& wanted) {
  Sizes sizes, strides;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) == 1 && wanted(d)) continue;
    sizes.push_back(self.size(d));
    strides.push_back(self.stride(d));
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
  return metaOf(selectView(args, args.tensor(0), args.integer(1), args.integer(2)));
}
Result<Value> sliceShape(const BoundArguments& args) {
  return metaOf(
      sliceView(args, args.tensor(0), args.integer(1), args.integerIf(2), args.integerIf(3), args.integer(4)));
}
Result<Value> narrowShape(const BoundArguments& args) {
  const std::int64_t start = args.integer(2), length = args.integer(3);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), args.tensor(0).dim()));
  const std::int64_t size = args.tensor(0).dim() == 0 ? 0 : args.tensor(0).size(dim);
  const std::int64_t begin = start < 0 ? start + size : start;
  if (length < 0 || begin < 0 || begin > size || length > size - begin)
    return mismatch(args, "start {} and length {} exceed dimension size {}", start, length, size);
  return metaOf(sliceView(args, args.tensor(0), dim, begin, begin + length, 1));
}
Result<Value> diagonalShape(const BoundArguments& args) {
  return metaOf(diagonalView(args, args.tensor(0), args.integer(1), args.integer(2), args.integer(3)));
}

Result<Value> asStridedShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  Sizes sizes = args.sizes(1);
  Sizes strides = args.sizes(2);
  if (sizes.size() != strides.size()) return mismatch(args, "size and stride differ in length");
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] < 0 || strides[i] < 0) return mismatch(args, "negative size or stride in dimension {}", i);
  const std::int64_t offset = args.integerIf(3).value_or(self.offset());
  if (offset < 0) return mismatch(args, "negative storage offset {}", offset);
  return Value(metaTensor(self.dtype(), std::move(sizes), std::move(strides), offset));
}

Result<Value> splitInto(const BoundArguments& args, const Sizes& lengths, std::int64_t dim) {
  ValueList parts;
  std::int64_t begin = 0;
  for (std::int64_t length : lengths) {
    KERF_TRY(Value part, metaOf(sliceView(args, args.tensor(0), dim, begin, begin + length, 1)));
    parts.push_back(std::move(part));
    begin += length;
  }
  return Value(std::move(parts));
}

Result<Value> splitShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "cannot split a tensor without dimensions");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  const std::int64_t piece = args.integer(1), size = self.size(dim);
  if (piece < 0 || (piece == 0 && size != 0)) return mismatch(args, "split size must be positive, got {}", piece);
  Sizes lengths;
  for (std::int64_t left = size; left > 0; left -= std::min(left, piece)) lengths.push_back(std::min(left, piece));
  if (lengths.empty()) lengths.push_back(0);
  return splitInto(args, lengths, dim);
}

Result<Value> chunkShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0 || args.integer(1) <= 0) return mismatch(args, "needs a dimension and a positive chunk count");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  const std::int64_t size = self.size(dim);
  const std::int64_t piece = std::max<std::int64_t>(1, size / args.integer(1) + (size % args.integer(1) != 0));
  Sizes lengths;
  for (std::int64_t left = size; left > 0; left -= std::min(left, piece)) lengths.push_back(std::min(left, piece));
  if (lengths.empty()) lengths.push_back(0);
  return splitInto(args, lengths, dim);
}

Result<Value> splitWithSizesShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "cannot split a tensor without dimensions");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  const Sizes lengths = args.sizes(1);
  std::int64_t total = 0;
  for (std::int64_t length : lengths) {
    if (length < 0 || length > self.size(dim) - total)
      return mismatch(args, "split sizes do not sum to {}", self.size(dim));
    total += length;
  }
  if (total != self.size(dim))
    return mismatch(args, "split sizes sum to {}, the dimension has {}", total, self.size(dim));
  return splitInto(args, lengths, dim);
}

Result<Value> unbindShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "cannot unbind a tensor without dimensions");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  ValueList parts;
  for (std::int64_t i = 0; i < self.size(dim); ++i) {
    KERF_TRY(Value part, metaOf(selectView(args, self, dim, i)));
    parts.push_back(std::move(part));
  }
  return Value(std::move(parts));
}

Result<Value> unfoldShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  const std::int64_t size = args.integer(2), step = args.integer(3);
  const std::int64_t available = self.dim() == 0 ? 1 : self.size(dim);
  if (size < 0 || size > available || step <= 0)
    return mismatch(args, "window {} in steps of {} does not fit dimension size {}", size, step, available);
  Sizes sizes = self.sizes();
  Sizes strides = self.strides();
  sizes.push_back(size);
  strides.push_back(self.dim() == 0 ? 1 : self.stride(dim));
  if (self.dim() > 0) {
    sizes[std::size_t(dim)] = (available - size) / step + 1;
    std::int64_t& stride = strides[std::size_t(dim)];
    stride = element::mul(stride, step);  // wraps only where a single window is left
  }
  return meta(self, std::move(sizes), std::move(strides));
}

Result<Value> viewDtypeShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  const DType dtype = *args.dtypeIf(1);
  if (itemSize(dtype) != itemSize(self.dtype()))
    return mismatch(args, "only dtypes of the same item size are supported, got {}", dtypeInfo(dtype).torchName);
  return Value(metaTensor(dtype, self.sizes(), self.strides(), self.offset()));
}

constexpr OpRow view(const char* schema, ShapeRule shape) { return {schema, OpTrait::View, shape, viewKernel}; }

constexpr OpRow rows[] = {
    view("aten::alias(Tensor(a) self) -> Tensor(a)", aliasShape),
    view("aten::detach(Tensor(a) self) -> Tensor(a)", aliasShape),
    view("aten::lift_fresh(Tensor(a) self) -> Tensor(a)", aliasShape),
    view("aten::lift(Tensor self) -> Tensor", aliasShape),
    view("aten::positive(Tensor(a) self) -> Tensor(a)", aliasShape),
    view("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", viewShape),
    view("aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", viewDtypeShape),
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

}  // namespace

OpRows viewOps() { return rows; }

}  // namespace kerf::inline ops
