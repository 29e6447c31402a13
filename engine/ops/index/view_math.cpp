// The arithmetic of select, slice, diagonal and permute, shared with their scatter and backward forms.
#include <algorithm>

#include "engine/ops/index/views.h"
#include "engine/ops/pointwise/element_math.h"

namespace kerf::inline ops {
namespace {

Result<Tensor> attach(const BoundArguments& args, const Tensor& meta, const Tensor& base) {
  Tensor view = base.viewAs(meta.sizes(), meta.strides(), meta.offset());
  if (!view.inBounds()) return mismatch(args, "the view reaches outside of the storage");
  if (meta.dtype() == base.dtype()) return view;
  Tensor other(view.storage(), meta.dtype(), meta.sizes(), meta.strides(), meta.offset());
  other.setDevice(base.device());
  if (!other.inBounds()) return mismatch(args, "the view reaches outside of the storage");
  return other;
}

}  // namespace

Value viewOf(const Tensor& tensor, Sizes sizes, Sizes strides, std::int64_t offset) {
  return Tensor(tensor.storage(), tensor.dtype(), std::move(sizes), std::move(strides), offset);
}

Result<Value> viewKernel(const BoundArguments& args) {
  KERF_TRY(const Value meta, runShapeRule(args));
  const Tensor& base = args.tensor(0);
  if (meta.isTensor()) {
    KERF_TRY(Tensor view, attach(args, meta.tensor(), base));
    return Value(std::move(view));
  }
  ValueList views;
  for (const Value& item : meta.list()) {
    KERF_TRY(Tensor view, attach(args, item.tensor(), base));
    views.emplace_back(std::move(view));
  }
  return Value(std::move(views));
}

Result<Tensor> selectView(const BoundArguments& args, const Tensor& self, std::int64_t dim, std::int64_t index) {
  if (self.dim() == 0) return mismatch(args, "cannot select from a tensor without dimensions");
  KERF_TRY(const std::int64_t d, wrapDim(args, dim, self.dim()));
  const std::int64_t size = self.size(d);
  if (index < -size || index >= size)
    return mismatch(args, "index {} is out of range for dimension {} of size {}", index, d, size);
  Sizes sizes = self.sizes();
  Sizes strides = self.strides();
  const std::int64_t offset = self.offset() + (index < 0 ? index + size : index) * self.stride(d);
  sizes.erase(sizes.begin() + d);
  strides.erase(strides.begin() + d);
  return viewOf(self, std::move(sizes), std::move(strides), offset).tensor();
}

Result<Tensor> sliceView(const BoundArguments& args, const Tensor& self, std::int64_t dim,
                         std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step) {
  if (self.dim() == 0) return mismatch(args, "cannot slice a tensor without dimensions");
  KERF_TRY(const std::int64_t d, wrapDim(args, dim, self.dim()));
  if (step <= 0) return mismatch(args, "slice step must be positive, got {}", step);
  const std::int64_t size = self.size(d);
  const auto clamp = [&](std::int64_t position, std::int64_t low) {
    if (position < 0) position = position < -size ? 0 : position + size;
    return std::clamp(position, low, size);
  };
  const std::int64_t begin = clamp(start.value_or(0), 0);
  const std::int64_t stop = clamp(end.value_or(size), begin);
  const std::int64_t length = (stop - begin) / step + ((stop - begin) % step != 0);
  Sizes sizes = self.sizes();
  Sizes strides = self.strides();
  const std::int64_t offset = self.offset() + begin * self.stride(d);
  sizes[std::size_t(d)] = length;
  std::int64_t& stride = strides[std::size_t(d)];
  if (__builtin_mul_overflow(stride, step, &stride)) stride = self.stride(d);  // such a step takes at most one element
  return viewOf(self, std::move(sizes), std::move(strides), offset).tensor();
}

Result<Tensor> diagonalView(const BoundArguments& args, const Tensor& self, std::int64_t offset, std::int64_t dim1,
                            std::int64_t dim2) {
  if (self.dim() < 2) return mismatch(args, "a diagonal needs at least two dimensions");
  KERF_TRY(const Sizes dims, wrapDims(args, {dim1, dim2}, self.dim()));
  const std::int64_t rows = self.size(dims[0]), columns = self.size(dims[1]);
  const std::int64_t skipped = std::clamp<std::int64_t>(offset, -rows, columns);
  const std::int64_t length =
      std::max<std::int64_t>(0, skipped >= 0 ? std::min(rows, columns - skipped) : std::min(rows + skipped, columns));
  std::int64_t start = self.offset();
  if (length > 0)
    start += skipped >= 0 ? element::mul(skipped, self.stride(dims[1])) : element::mul(-skipped, self.stride(dims[0]));
  Sizes sizes, strides;
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (d != dims[0] && d != dims[1]) {
      sizes.push_back(self.size(d));
      strides.push_back(self.stride(d));
    }
  sizes.push_back(length);
  strides.push_back(element::add(self.stride(dims[0]), self.stride(dims[1])));
  return viewOf(self, std::move(sizes), std::move(strides), start).tensor();
}

Tensor permuteView(const Tensor& self, const Sizes& order) {
  Sizes sizes, strides;
  for (std::int64_t dim : order) {
    sizes.push_back(self.size(dim));
    strides.push_back(self.stride(dim));
  }
  return viewOf(self, std::move(sizes), std::move(strides), self.offset()).tensor();
}

}  // namespace kerf::inline ops
