// Ops about complex numbers: their parts, conjugates, and making them from real tensors.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/index/views.h"
#include "engine/ops/kernels/complex_values.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

// Views

Result<Value> partsShape(const BoundArguments& args) {
  if (!isComplex(args.tensor(0).dtype())) return mismatch(args, "is only supported for complex tensors");
  return Value(partsView(args.tensor(0)));
}
Result<Value> partsKernel(const BoundArguments& args) {
  KERF_CHECK(partsShape(args));
  return Value(partsView(args.tensor(0)));
}

Result<Value> joinedShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isFloating(self.dtype()) || itemSize(self.dtype()) < 2 || self.dtype() == DType::BFloat16)
    return mismatch(args, "needs a float16, float32 or float64 tensor");
  if (self.dim() == 0 || !guardOrTrue(self.symSizes().back() == 2))
    return mismatch(args, "tensor must have a last dimension of size 2");
  if (!guardOrTrue(self.symStrides().back() == 1))
    return mismatch(args, "tensor must have a last dimension with stride 1");
  SymSizes sizes = self.symSizes(), strides = self.symStrides();
  sizes.pop_back();
  strides.pop_back();
  for (SymInt& stride : strides) {
    if (!guardOrTrue(floorMod(stride, 2) == 0))
      return mismatch(args, "tensor must have a stride divisible by 2 for all but the last dimension");
    stride = floorDiv(stride, 2);
  }
  if (!guardOrTrue(floorMod(self.symOffset(), 2) == 0))
    return mismatch(args, "tensor must have a storage offset divisible by 2");
  Tensor out(self.storage(), toComplex(self.dtype()), std::move(sizes), std::move(strides),
             floorDiv(self.symOffset(), 2));
  out.setDevice(self.device());
  return Value(std::move(out));
}

template <std::int64_t part>
Result<Value> partShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isComplex(self.dtype())) {
    if (part == 1) return mismatch(args, "is not implemented for tensors with non-complex dtypes");
    return args.values[0];
  }
  const Tensor parts = partsView(self);
  SymSizes sizes = self.symSizes(), strides = parts.symStrides();
  strides.pop_back();
  Tensor out(self.storage(), parts.dtype(), std::move(sizes), std::move(strides), parts.symOffset() + part);
  out.setDevice(self.device());
  return Value(std::move(out));
}

/// The view's data in new memory.
template <ShapeRule view>
Result<Value> copyShape(const BoundArguments& args) {
  KERF_TRY(const Value meta, view(args));
  return Value(metaTensor(meta.tensor().dtype(), meta.tensor().symSizes()));
}
template <ShapeRule view>
Result<Value> copyKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Value source, view(args));
  KERF_CHECK(copyElements(source.tensor(), out));
  return Value(std::move(out));
}

// Conjugates; lazy in PyTorch, computed at once here

Result<Value> sameShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isComplex(self.dtype())) return args.values[0];  // its own conjugate
  return Value(metaTensor(self.dtype(), self.symSizes(), elementwiseStrides(std::span(&self, 1), self.symSizes())));
}
Result<Value> conjugateKernel(const BoundArguments& args) {
  if (!isComplex(args.tensor(0).dtype())) return args.values[0];
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(Complexes values, complexesOf(args.tensor(0)));
  for (Z& z : values) z = std::conj(z);
  KERF_CHECK(writeComplexes(values, out));
  return Value(std::move(out));
}
/// The forms that copy real numbers, too: into memory like self's, or row-major (what torchgen makes of views).
Result<Value> physicalShape(const BoundArguments& args) {
  return inferShapes("aten.clone.default"_op, {args.values[0]}, {});
}
Result<Value> primPhysicalShape(const BoundArguments& args) {
  if (!isComplex(args.tensor(0).dtype())) return mismatch(args, "is only defined for complex dtypes");
  return sameShape(args);
}
Result<Value> primPhysicalKernel(const BoundArguments& args) {
  KERF_CHECK(primPhysicalShape(args));
  return conjugateKernel(args);
}
Result<Value> rowMajorShape(const BoundArguments& args) {
  return Value(metaTensor(args.tensor(0).dtype(), args.tensor(0).symSizes()));
}
Result<Value> copiedConjugateKernel(const BoundArguments& args) {
  if (isComplex(args.tensor(0).dtype())) return conjugateKernel(args);
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_CHECK(copyElements(args.tensor(0), out));
  return Value(std::move(out));
}
Result<Value> negativeShape(const BoundArguments& args) {
  return inferShapes("aten.neg.default"_op, {args.values[0]}, {});
}
Result<Value> negativeKernel(const BoundArguments& args) { return callOp("aten.neg.default"_op, {args.values[0]}); }
Result<Value> negatedCopyKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Value negative, negativeKernel(args));
  KERF_CHECK(copyElements(negative.tensor(), out));
  return Value(std::move(out));
}
Result<Value> unchanged(const BoundArguments& args) { return args.values[0]; }
Result<Value> unchangedShape(const BoundArguments& args) { return args.values[0]; }

// From real tensors

Result<Value> pairShape(const BoundArguments& args) {
  const Tensor pair[] = {args.tensor(0), args.tensor(1)};
  if (pair[0].dtype() != pair[1].dtype() || !isFloating(pair[0].dtype()))
    return mismatch(args, "expects two floating point tensors of one dtype");
  auto sizes = broadcastSizes(pair);
  if (!sizes) return mismatch(args, "{}", sizes.error().message);
  return Value(metaTensor(toComplex(pair[0].dtype()), *sizes, elementwiseStrides(pair, *sizes)));
}
Result<Value> pairKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(Complexes a, complexesOf(args.tensor(0), out.sizes()));
  KERF_TRY(const Complexes b, complexesOf(args.tensor(1), out.sizes()));
  const bool polar = args.op->id == "aten.polar.default"_op;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i].real(), y = b[i].real();
    a[i] = polar ? Z(x * std::cos(y), x * std::sin(y)) : Z(x, y);
  }
  KERF_CHECK(writeComplexes(a, out));
  return Value(std::move(out));
}

Result<Value> isComplexKernel(const BoundArguments& args) { return Value(isComplex(args.tensor(0).dtype())); }

constexpr OpTrait view = OpTrait::View;
constexpr OpTrait point = OpTrait::Pointwise;
constexpr OpRow complexRows[] = {
    {"aten::view_as_real(Tensor(a) self) -> Tensor(a)", view, partsShape, partsKernel},
    {"aten::view_as_complex(Tensor(a) self) -> Tensor(a)", view, joinedShape, joinedShape},
    {"aten::view_as_real_copy(Tensor self) -> Tensor", OpTrait::None, copyShape<partsShape>, copyKernel<partsShape>},
    {"aten::view_as_complex_copy(Tensor self) -> Tensor", OpTrait::None, copyShape<joinedShape>,
     copyKernel<joinedShape>},
    {"aten::real(Tensor(a) self) -> Tensor(a)", view, partShape<0>, partShape<0>},
    {"aten::imag(Tensor(a) self) -> Tensor(a)", view, partShape<1>, partShape<1>},
    {"aten::conj(Tensor(a) self) -> Tensor(a)", point, sameShape, conjugateKernel},
    {"aten::_conj(Tensor(a) self) -> Tensor(a)", point, sameShape, conjugateKernel},
    {"aten::_conj_copy(Tensor self) -> Tensor", point, rowMajorShape, copiedConjugateKernel},
    {"aten::_conj_physical(Tensor self) -> Tensor", point, physicalShape, copiedConjugateKernel},
    {"aten::conj_physical(Tensor self) -> Tensor", point, sameShape, conjugateKernel},
    {"prims::conj(Tensor(a) a) -> Tensor(a)", point, sameShape, conjugateKernel},
    {"prims::conj_physical(Tensor self) -> Tensor", point, primPhysicalShape, primPhysicalKernel},
    {"aten::_neg_view(Tensor(a) self) -> Tensor(a)", point, negativeShape, negativeKernel},
    {"aten::_neg_view_copy(Tensor self) -> Tensor", point, rowMajorShape, negatedCopyKernel},
    {"aten::resolve_conj(Tensor(a) self) -> Tensor(a)", view, unchangedShape, unchanged},
    {"aten::resolve_neg(Tensor(a) self) -> Tensor(a)", view, unchangedShape, unchanged},
    {"aten::complex(Tensor real, Tensor imag) -> Tensor", point, pairShape, pairKernel},
    {"aten::polar(Tensor abs, Tensor angle) -> Tensor", point, pairShape, pairKernel},
    {"aten::is_complex(Tensor self) -> bool", OpTrait::None, isComplexKernel, isComplexKernel},
};

const OpRegistration complexOps({.rows = complexRows});

}  // namespace

}  // namespace kerf::inline ops
