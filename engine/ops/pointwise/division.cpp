// Quotients and remainders.
#include <algorithm>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/pointwise/division.h"
#include "engine/ops/pointwise/engine.h"

namespace kerf::inline ops {
namespace {

using namespace element;

KERF_ELEMENT2(Div, x / y);
KERF_ELEMENT2(DivFloor, floorDivide(x, y));
KERF_ELEMENT2(DivTrunc, truncDivide(x, y));
KERF_ELEMENT2(Fmod, truncRemainder(x, y));
KERF_ELEMENT2(Remainder, floorRemainder(x, y));

constexpr PointwiseSpec withDivisorCheck(PointwiseSpec spec) {
  spec.checkDivisor = true;
  return spec;
}
template <class F>
constexpr PointwiseSpec division = withDivisorCheck(withUnsigned<F>(numberSpec<F>()));

constexpr PointwiseSpec trueDivision = floatSpec<Div>(Promotion::Floating, NumberRounding::Exact);

/// 16-bit floats round the quotient before it is truncated, unless one number divides them: that and the quotient stay
/// float32 then.
template <class T>
struct DivTruncRounded {
  static constexpr int arity = 2;
  template <class V>
  static V apply(V x, V y) {
    if constexpr (isInt<V>)
      return truncDivide(x, y);
    else
      return std::trunc(V(float(T(float(x / y)))));
  }
};

template <class F>
constexpr PointwiseSpec byOneNumber = [] {
  PointwiseSpec spec = division<F>;
  spec.rounding = NumberRounding::Exact;
  return spec;
}();

const PointwiseSpec* truncation(const BoundArguments& args) {
  if (dividesByOne(args)) return &byOneNumber<DivTrunc>;
  const DType dtype = resultType(std::vector<Value>{args.values[0], args.values[1]});
  if (dtype == DType::BFloat16) return &division<DivTruncRounded<BFloat16>>;
  return dtype == DType::Float16 ? &division<DivTruncRounded<Half>> : &division<DivTrunc>;
}

/// PyTorch's vector kernel multiplies by the divisor's reciprocal, so that quotients beyond float's range give NaN;
/// what is left of a run after whole vectors of 32 goes through C's fmod, and so do tensors whose elements are apart.
template <class F>
void remainderChunk(const void* const* in, void* out, std::int64_t count) {
  const auto *x = static_cast<const float*>(in[0]), *y = static_cast<const float*>(in[1]);
  const std::int64_t vectors = count - count % 32;
  for (std::int64_t i = 0; i < count; ++i) {
    const float scale = std::abs(y[i]) < std::numeric_limits<float>::min() ? 0x1p25f : 1.0f;  // of tiny divisors
    const bool overflows =
        i < vectors && std::isfinite(x[i]) && y[i] != 0 && std::isinf(x[i] * scale * (1 / (std::abs(y[i]) * scale)));
    static_cast<float*>(out)[i] = overflows ? std::numeric_limits<float>::quiet_NaN() : F::apply(x[i], y[i]);
  }
}
template <class F>
const PointwiseSpec* withoutVectors(const BoundArguments& args) {
  for (const Value& value : args.values)
    if (value.isTensor() && value.tensor().defined() && value.tensor().numel() > 1 &&
        std::ranges::count(value.tensor().strides(), 1) == 0)
      return &division<F>;
  return nullptr;
}
template <class F>
constexpr PointwiseSpec remainder = [] {
  PointwiseSpec spec = division<F>;
  spec.f32 = remainderChunk<F>;
  spec.select = withoutVectors<F>;
  return spec;
}();

const PointwiseSpec* byRoundingMode(const BoundArguments& args) {
  const std::string mode = args.text(args.position("rounding_mode"));
  if (mode == "floor") return dividesByOne(args) ? &byOneNumber<DivFloor> : &division<DivFloor>;
  if (mode == "trunc") return truncation(args);
  return &trueDivision;
}

constexpr PointwiseSpec modalDivision = [] {
  PointwiseSpec spec = trueDivision;
  spec.select = byRoundingMode;
  return spec;
}();

constexpr OpRow divisionRows[] = {
    pointwiseRow("aten::div.Tensor(Tensor self, Tensor other) -> Tensor", trueDivision),
    pointwiseRow("aten::div.Scalar(Tensor self, Scalar other) -> Tensor", trueDivision),
    pointwiseRow("aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", modalDivision),
    pointwiseRow("aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", modalDivision),
    pointwiseRow("aten::floor_divide(Tensor self, Tensor other) -> Tensor", division<DivFloor>),
    pointwiseRow("aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", byOneNumber<DivFloor>),
    pointwiseRow("aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", remainder<Fmod>),
    pointwiseRow("aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", remainder<Fmod>),
    pointwiseRow("aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor", remainder<Remainder>),
    pointwiseRow("aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor", remainder<Remainder>),
    pointwiseRow("aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", remainder<Remainder>),
};

}  // namespace

bool dividesByOne(const BoundArguments& args) {
  const Tensor* divisor = args.tensorIf(1);
  return divisor == nullptr || divisor->dim() == 0;
}

const OpRegistration divisionOps({.rows = divisionRows});

}  // namespace kerf::inline ops
