// Element-wise ops of three and four operands: where, clamp, lerp, addcmul, fma, masked_fill.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/pointwise/engine.h"

namespace kerf::inline ops {
namespace {

using namespace element;

KERF_ELEMENT3(Where, x != 0 ? y : z);
KERF_ELEMENT3(Clamp, minimum(maximum(x, y), z));
KERF_ELEMENT3(Lerp, std::abs(z) < T(0.5) ? x + z * (y - x) : y - (y - x) * (T(1) - z));
KERF_ELEMENT3(Fma, std::fma(x, y, z));
KERF_ELEMENT4(AddCMul, add(x, mul(mul(w, y), z)));
KERF_ELEMENT4(AddCDiv, x + w * y / z);

constexpr PointwiseSpec where = numberSpec<Where>(Promotion::ConditionFirst);
constexpr PointwiseSpec clamp = withUnsigned<Clamp>(numberSpec<Clamp>());
constexpr PointwiseSpec lerp = floatSpec<Lerp>(Promotion::Same, NumberRounding::Exact);
constexpr PointwiseSpec fma = floatSpec<Fma>(Promotion::Same);
constexpr PointwiseSpec addCMul = numberSpec<AddCMul>(Promotion::Same, NumberRounding::Exact);
constexpr PointwiseSpec addCDiv = floatSpec<AddCDiv>(Promotion::Same, NumberRounding::Exact);

/// masked_fill clones self (expanded to the mask) row-major and keeps its dtype.
Result<Value> maskedFillShape(const BoundArguments& args) {
  if (args.tensor(1).dtype() != DType::Bool) return mismatch(args, "argument 'mask' must be a bool tensor");
  if (const Tensor* value = args.tensorIf(2); value && value->dim() != 0)
    return mismatch(args, "argument 'value' must have no dimensions, has {}", value->dim());
  auto sizes = broadcastSizes(args.tensor(0).symSizes(), args.tensor(1).symSizes());
  if (!sizes) return mismatch(args, "{}", sizes.error().message);
  return Value(metaTensor(args.tensor(0).dtype(), *sizes));
}

Result<Value> maskedFillKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const ValueList operands = {args.values[1], args.values[2], args.values[0]};
  KERF_CHECK(runPointwiseInto(args, where, operands, out.dtype(), out));
  return Value(std::move(out));
}

Result<Value> whereShape(const BoundArguments& args) {
  const Tensor* condition = args.tensorIf(0);
  if (!condition || (condition->dtype() != DType::Bool && condition->dtype() != DType::UInt8))
    return mismatch(args, "argument 'condition' must be a bool tensor");
  return pointwiseShape(args);
}

Result<Value> clampShape(const BoundArguments& args) {
  if (args.none(1) && args.none(2)) return mismatch(args, "at least one of 'min' or 'max' must not be None");
  return pointwiseShape(args);
}

constexpr OpRow clampRow(const char* schema) {
  return {schema, OpTrait::Pointwise, clampShape, pointwiseKernel, &clamp};
}

constexpr OpRow whereRow(const char* schema) {
  return {schema, OpTrait::Pointwise, whereShape, pointwiseKernel, &where};
}

/// The mask and value operands do not go through the promoted type, so these rows have no spec of their own.
constexpr OpRow maskedFillRow(const char* schema) {
  return {schema, OpTrait::Pointwise, maskedFillShape, maskedFillKernel};
}

constexpr OpRow pointwiseTernaryRows[] = {
    whereRow("aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor"),
    whereRow("aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor"),
    whereRow("aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor"),
    whereRow("aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor"),
    clampRow("aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor"),
    clampRow("aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"),
    pointwiseRow("aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", lerp),
    pointwiseRow("aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", lerp),
    pointwiseRow("prims::fma(Tensor self, Tensor other, Tensor addend) -> Tensor", fma),
    pointwiseRow("aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", addCMul),
    pointwiseRow("aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", addCDiv),
    maskedFillRow("aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor"),
    maskedFillRow("aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor"),
};

const OpRegistration pointwiseTernaryOps({.rows = pointwiseTernaryRows});

}  // namespace

}  // namespace kerf::inline ops
