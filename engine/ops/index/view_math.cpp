// The arithmetic of select, slice, diagonal and permute, shared with their scatter and backward forms.
#include <limits>

#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/index/views.h"

namespace kerf::inline ops {
namespace {

Result<Tensor> attach(const BoundArguments& args, const Tensor& meta, const Tensor& base) {
  if (meta.dtype() == base.dtype()) {
    Tensor view = base.viewAs(meta.sizes(), meta.strides(), meta.offset());
    if (!view.inBounds()) return mismatch(args, "the view reaches outside of the storage");
    return view;
  }
  Tensor other(base.storage(), meta.dtype(), meta.sizes(), meta.strides(), meta.offset());
  other.setDevice(base.device());
  if (!other.inBounds()) return mismatch(args, "the view reaches outside of the storage");
  return other;
}

}  // namespace

Value viewOf(const Tensor& tensor, SymSizes sizes, SymSizes strides, SymInt offset) {
  return tensor.viewAs(std::move(sizes), std::move(strides), std::move(offset));
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

namespace {

/// A number that only running the graph gives, of [0, most]. UnsupportedOp outside of a ShapeEnv.
Result<SymInt> unknownSize(const BoundArguments& args, std::optional<SymInt> most) {
  ShapeEnv* env = ShapeEnv::current();
  if (env == nullptr) return fail(ErrorCode::UnsupportedOp, "{}: the shape depends on values", args.opName());
  const SymInt size = env->addUnbacked({0, most ? env->range(*most).upper : ValueRange::greatest});
  if (most) checkAtMost(size, *most);
  return size;
}

/// A bound of a slice as a position in [0, size]; none where nothing decides which case it is.
std::optional<SymInt> position(SymInt bound, SymInt size) {
  if (guardOrFalse(bound >= 0) && guardOrFalse(bound <= size)) return bound;
  if (guardOrFalse(bound < 0) && guardOrFalse(bound >= -size)) return bound + size;
  if (guardOrFalse(bound < -size)) return SymInt(0);
  if (guardOrFalse(bound > size)) return size;
  return {};
}

/// Elements in [start, end) in steps; none where it is not known which of them comes first.
std::optional<SymInt> lengthOf(std::optional<SymInt> start, std::optional<SymInt> end, SymInt step) {
  if (!start || !end) return {};
  if (guardOrFalse(*end >= *start)) return ceilDiv(*end - *start, step);
  if (guardOrFalse(*start >= *end)) return SymInt(0);
  return {};
}

/// A step too large for the product takes at most one element: any stride does.
SymInt stepped(SymInt stride, SymInt step) {
  std::int64_t product = 0;
  const bool plain = !stride.isSymbolic() && !step.isSymbolic();
  return plain && __builtin_mul_overflow(stride.bits(), step.bits(), &product) ? stride : stride * step;
}

}  // namespace

Result<Tensor> selectView(const BoundArguments& args, const Tensor& self, std::int64_t dim, SymInt index) {
  if (self.dim() == 0) return mismatch(args, "cannot select from a tensor without dimensions");
  KERF_TRY(const std::int64_t d, wrapDim(args, dim, self.dim()));
  const SymInt size = self.symSize(d);
  if (guardOrFalse(index < -size) || guardOrFalse(index >= size))
    return mismatch(args, "index {} is out of range for dimension {} of size {}", index, d, size);
  SymInt offset;
  if (guardOrFalse(index >= 0)) {
    offset = self.symOffset() + index * self.symStride(d);
  } else if (guardOrFalse(index < 0)) {
    offset = self.symOffset() + (index + size) * self.symStride(d);
  } else {
    KERF_TRY(offset, unknownSize(args, {}));
  }
  SymSizes sizes = self.symSizes();
  SymSizes strides = self.symStrides();
  sizes.erase(sizes.begin() + d);
  strides.erase(strides.begin() + d);
  return viewOf(self, std::move(sizes), std::move(strides), offset).tensor();
}

Result<Tensor> sliceView(const BoundArguments& args, const Tensor& self, std::int64_t dim, std::optional<SymInt> start,
                         std::optional<SymInt> end, SymInt step) {
  if (self.dim() == 0) return mismatch(args, "cannot slice a tensor without dimensions");
  KERF_TRY(const std::int64_t d, wrapDim(args, dim, self.dim()));
  if (!guardOrTrue(step > 0)) return mismatch(args, "slice step must be positive, got {}", step);
  const SymInt size = self.symSize(d);
  const bool toEnd = !end || end->isIdentical(std::numeric_limits<std::int64_t>::max());
  const std::optional<SymInt> begin = position(start.value_or(0), size);
  const std::optional<SymInt> stop = toEnd ? size : position(*end, size);
  std::optional<SymInt> length = lengthOf(begin, stop, step);
  if (!length) {
    KERF_TRY(length, unknownSize(args, size));
  }
  SymSizes sizes = self.symSizes();
  SymSizes strides = self.symStrides();
  SymInt offset = self.symOffset();
  if (begin) {
    offset += *begin * self.symStride(d);
  } else {
    KERF_TRY(offset, unknownSize(args, {}));
  }
  sizes[std::size_t(d)] = *length;
  strides[std::size_t(d)] = stepped(strides[std::size_t(d)], step);
  return viewOf(self, std::move(sizes), std::move(strides), offset).tensor();
}

Result<Tensor> partView(const BoundArguments& args, const Tensor& self, std::int64_t dim, SymInt start, SymInt length) {
  if (self.dim() == 0) return mismatch(args, "cannot slice a tensor without dimensions");
  SymSizes sizes = self.symSizes();
  sizes[std::size_t(dim)] = length;
  const SymInt offset = self.symOffset() + start * self.symStride(dim);
  return viewOf(self, std::move(sizes), self.symStrides(), offset).tensor();
}

Result<Tensor> unfoldView(const BoundArguments& args, const Tensor& self, std::int64_t dim, std::int64_t size,
                          std::int64_t step) {
  const SymInt available = self.dim() == 0 ? SymInt(1) : self.symSize(dim);
  if (size < 0 || !guardOrTrue(available >= size) || step <= 0)
    return mismatch(args, "window {} in steps of {} does not fit dimension size {}", size, step, available);
  SymSizes sizes = self.symSizes(), strides = self.symStrides();
  sizes.push_back(size);
  strides.push_back(self.dim() == 0 ? SymInt(1) : self.symStride(dim));
  if (self.dim() > 0) {
    sizes[std::size_t(dim)] = floorDiv(available - size, step) + 1;
    strides[std::size_t(dim)] *= step;  // wraps only where a single window is left
  }
  return viewOf(self, std::move(sizes), std::move(strides), self.symOffset()).tensor();
}

Result<Tensor> diagonalView(const BoundArguments& args, const Tensor& self, std::int64_t offset, std::int64_t dim1,
                            std::int64_t dim2) {
  if (self.dim() < 2) return mismatch(args, "a diagonal needs at least two dimensions");
  KERF_TRY(const Sizes dims, wrapDims(args, {dim1, dim2}, self.dim()));
  const SymInt rows = self.symSize(dims[0]), columns = self.symSize(dims[1]);
  const bool above = offset >= 0;
  const SymInt length = symMax(above ? symMin(rows, columns - offset) : symMin(rows + offset, columns), 0);
  SymInt start = self.symOffset();
  if (guardOrTrue(length > 0)) start += above ? offset * self.symStride(dims[1]) : -offset * self.symStride(dims[0]);
  SymSizes sizes, strides;
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (d != dims[0] && d != dims[1]) {
      sizes.push_back(self.symSize(d));
      strides.push_back(self.symStride(d));
    }
  sizes.push_back(length);
  strides.push_back(self.symStride(dims[0]) + self.symStride(dims[1]));
  return viewOf(self, std::move(sizes), std::move(strides), start).tensor();
}

Tensor permuteView(const Tensor& self, const Sizes& order) {
  SymSizes sizes, strides;
  for (std::int64_t dim : order) {
    sizes.push_back(self.symSize(dim));
    strides.push_back(self.symStride(dim));
  }
  return viewOf(self, std::move(sizes), std::move(strides), self.symOffset()).tensor();
}

}  // namespace kerf::inline ops
