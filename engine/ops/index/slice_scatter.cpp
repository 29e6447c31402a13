// Views written instead of read: select_scatter, slice_scatter and friends, and the backwards of the views.
#include <algorithm>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/index/views.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline ops {
namespace {

/// A view of `base` that the op writes, from the arguments that start at `first`.
using ViewPart = Result<Tensor> (*)(const BoundArguments& args, const Tensor& base, std::size_t first);

Result<Tensor> selectPart(const BoundArguments& args, const Tensor& base, std::size_t first) {
  return selectView(args, base, args.integer(first), args.symInteger(first + 1));
}
Result<Tensor> slicePart(const BoundArguments& args, const Tensor& base, std::size_t first) {
  return sliceView(args, base, args.integer(first), args.symIntegerIf(first + 1), args.symIntegerIf(first + 2),
                   args.symInteger(first + 3));
}
Result<Tensor> diagonalPart(const BoundArguments& args, const Tensor& base, std::size_t first) {
  return diagonalView(args, base, args.integer(first), args.integer(first + 1), args.integer(first + 2));
}
Result<Tensor> stridedPart(const BoundArguments& args, const Tensor& base, std::size_t first) {
  const Sizes sizes = args.sizes(first), strides = args.sizes(first + 1);
  if (sizes.size() != strides.size()) return mismatch(args, "size and stride differ in length");
  const std::int64_t offset = args.integerIf(first + 2).value_or(base.offset());
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] < 0 || strides[d] < 0) return mismatch(args, "negative size or stride in dimension {}", d);
  if (offset < 0) return mismatch(args, "negative storage offset {}", offset);
  Tensor view(base.storage(), base.dtype(), sizes, strides, offset);
  if (base.defined() && !view.inBounds()) return mismatch(args, "the view reaches outside of the storage");
  return view;
}
Result<Tensor> unfoldPart(const BoundArguments& args, const Tensor& base, std::size_t first) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(first), base.dim()));
  return unfoldView(args, base, dim, args.integer(first + 1), args.integer(first + 2));
}

// x_scatter(self, src, …): a copy of self, strides and gaps kept, in which the view holds src

/// Elements that share memory cannot be written apart: such a self is copied densely, any other as it lies.
bool repeatsElements(const Tensor& self) {
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (guardOrFalse(self.symStride(d) == 0) && guardOrTrue(self.symSize(d) > 1)) return true;
  return false;
}

Result<Value> scatterShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!repeatsElements(self)) return Value(metaTensor(self.dtype(), self.symSizes(), self.symStrides()));
  KERF_TRY(SymSizes strides, likeStrides(self, {}));
  return Value(metaTensor(self.dtype(), self.symSizes(), std::move(strides)));
}

/// Whether the number is known, or known from the example: only of such a one a part's size is.
bool isDecided(std::optional<SymInt> number) {
  return !number || !number->isSymbolic() || ShapeEnv::current()->hint(*number).has_value();
}
bool areDecided(const SymSizes& sizes) {
  return std::ranges::all_of(sizes, [](SymInt size) { return isDecided(size); });
}

/// scatterShape(), of a src of that size: nothing is broadcast.
Result<Value> fittingShape(const BoundArguments& args, const SymSizes& part) {
  const SymSizes& given = args.tensor(1).symSizes();
  if (given.size() != part.size() || !checkEqual(given, part))
    return mismatch(args, "src of shape [{}] does not fit the slice [{}]", fmt::join(given, ", "),
                    fmt::join(part, ", "));
  return scatterShape(args);
}

template <ViewPart part, std::size_t firstBound, std::size_t lastBound>
Result<Value> partScatterShape(const BoundArguments& args) {
  bool decided = areDecided(args.tensor(0).symSizes());
  for (std::size_t i = firstBound; i <= lastBound; ++i) decided = decided && isDecided(args.symIntegerIf(i));
  if (!decided) return scatterShape(args);
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Tensor view, part(args, metaTensor(self.dtype(), self.symSizes()), 2));
  return fittingShape(args, view.symSizes());
}

Result<Value> stridedScatterShape(const BoundArguments& args) {
  if (args.symSizes(2).size() != args.symSizes(3).size()) return mismatch(args, "size and stride differ in length");
  return fittingShape(args, args.symSizes(2));
}

/// Writes src into `view`, a part of the copy `out`, and returns `out`.
Result<Value> scattered(const BoundArguments& args, Tensor out, const Tensor& view) {
  const Tensor& source = args.tensor(1);
  if (source.sizes() != view.sizes())
    return mismatch(args, "src of shape [{}] does not fit the slice [{}]", fmt::join(source.sizes(), ", "),
                    fmt::join(view.sizes(), ", "));
  KERF_CHECK(copyElements(source, view));
  return Value(std::move(out));
}

template <ViewPart part>
Result<Value> scatterKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_CHECK(copyElements(args.tensor(0), out));
  KERF_TRY(const Tensor view, part(args, out, 2));
  return scattered(args, std::move(out), view);
}

/// as_strided_scatter counts offsets from the start of self's storage, so all of that is copied and self's own offset
/// stays; what is written outside of self is not seen in the result.
Result<Value> stridedScatterKernel(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (repeatsElements(self)) return scatterKernel<stridedPart>(args);
  KERF_TRY(const StoragePtr storage, Storage::allocate(self.storage()->bytes()));
  std::ranges::copy(self.storage()->view(), storage->data());
  Tensor out(storage, self.dtype(), self.sizes(), self.strides(), self.offset());
  out.setDevice(self.device());
  KERF_TRY(const Tensor view, stridedPart(args, out, 2));
  return scattered(args, std::move(out), view);
}

// x_backward(grad, input_sizes, …): zeros in which the view holds grad

Result<Value> backwardShape(const BoundArguments& args) {
  for (const SymInt size : args.symSizes(1))
    if (!guardOrTrue(size >= 0)) return mismatch(args, "size {} is negative", size);
  return Value(metaTensor(args.tensor(0).dtype(), args.symSizes(1)));
}

/// backwardShape(), of a gradient that fits the part.
template <ViewPart part, std::size_t firstBound, std::size_t lastBound>
Result<Value> partBackwardShape(const BoundArguments& args) {
  KERF_TRY(Value shape, backwardShape(args));
  bool decided = areDecided(args.symSizes(1));
  for (std::size_t i = firstBound; i <= lastBound; ++i) decided = decided && isDecided(args.symIntegerIf(i));
  if (!decided) return shape;
  KERF_TRY(const Tensor view, part(args, shape.tensor(), 2));
  const SymSizes& given = args.tensor(0).symSizes();
  if (!checkEqual(given, view.symSizes()))
    return mismatch(args, "grad of shape [{}] does not fit the view [{}]", fmt::join(given, ", "),
                    fmt::join(view.symSizes(), ", "));
  return shape;
}

template <ViewPart part>
Result<Value> backwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Tensor view, part(args, out, 2));
  KERF_CHECK(copyElements(args.tensor(0), view));
  return Value(std::move(out));
}

/// Windows overlap, so their gradients add up; sums are kept in the tensor's type.
Result<Value> unfoldBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Tensor view, unfoldPart(args, out, 2));
  if (view.sizes() != args.tensor(0).sizes()) return mismatch(args, "grad does not have the shape of the windows");
  KERF_TRY(const Tensor grad, args.tensor(0).contiguous());
  const std::int64_t count = grad.numel();
  KERF_CHECK(dispatchAllAndComplex(out.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = i, offset = 0;
      for (std::size_t d = view.sizes().size(); d-- > 0; rest /= view.sizes()[d])
        offset += rest % view.sizes()[d] * view.strides()[d];
      T& sum = view.data<T>()[offset];
      if constexpr (element::isInt<T>)
        sum = element::add(sum, grad.data<T>()[i]);
      else
        sum = T(sum + grad.data<T>()[i]);
    }
  }));
  return Value(std::move(out));
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow sliceScatterRows[] = {
    {"aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", none,
     partScatterShape<selectPart, 3, 3>, scatterKernel<selectPart>},
    {"aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> "
     "Tensor",
     none, partScatterShape<slicePart, 3, 5>, scatterKernel<slicePart>},
    {"aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor", none,
     partScatterShape<diagonalPart, 2, 4>, scatterKernel<diagonalPart>},
    {"aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) "
     "-> Tensor",
     none, stridedScatterShape, stridedScatterKernel},
    {"aten::select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor", none,
     partBackwardShape<selectPart, 3, 3>, backwardKernel<selectPart>},
    {"aten::slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step) "
     "-> Tensor",
     none, partBackwardShape<slicePart, 3, 5>, backwardKernel<slicePart>},
    {"aten::diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
     none, partBackwardShape<diagonalPart, 2, 4>, backwardKernel<diagonalPart>},
    {"aten::unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor", none,
     backwardShape, unfoldBackwardKernel},
};

const OpRegistration sliceScatterOps({.rows = sliceScatterRows});

}  // namespace

}  // namespace kerf::inline ops
