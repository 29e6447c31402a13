// One-operand element-wise ops: one functor and one table line each.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/pointwise/special_functions.h"
#include "engine/ops/pointwise/vector.h"

namespace kerf::inline ops {
namespace {

using namespace element;

KERF_ELEMENT1(Abs, magnitude(x));
KERF_ELEMENT1(Neg, neg(x));
KERF_ELEMENT1(Sign, sign(x));
KERF_ELEMENT1(Square, mul(x, x));
KERF_ELEMENT1(Ceil, ifFloat(x, [](auto v) { return std::ceil(v); }));
KERF_ELEMENT1(Floor, ifFloat(x, [](auto v) { return std::floor(v); }));
KERF_ELEMENT1(Trunc, ifFloat(x, [](auto v) { return std::trunc(v); }));
KERF_ELEMENT1(Round, ifFloat(x, [](auto v) { return std::nearbyint(v); }));
KERF_ELEMENT1(Frac, x - std::trunc(x));
KERF_ELEMENT1(BitwiseNot, ~x);
KERF_ELEMENT1(LogicalNot, x == 0);
KERF_ELEMENT1(IsNan, isNan(x));
KERF_ELEMENT1(IsInf, (!isInt<T> && std::isinf(double(x))));
KERF_ELEMENT1(IsPosInf, (!isInt<T> && std::isinf(double(x)) && x > 0));
KERF_ELEMENT1(IsNegInf, (!isInt<T> && std::isinf(double(x)) && x < 0));
KERF_ELEMENT1(SignBit, (isInt<T> ? x < 0 : std::signbit(double(x))));

KERF_ELEMENT1(Sqrt, std::sqrt(x));
KERF_ELEMENT1(Rsqrt, T(1) / std::sqrt(x));
KERF_ELEMENT1(Reciprocal, T(1) / x);
KERF_ELEMENT1(Negated, -x);
KERF_ELEMENT1(Deg2Rad, x* T(M_PI / 180));
KERF_ELEMENT1(Rad2Deg, x* T(180 / M_PI));
KERF_ELEMENT1(Sinc, x == 0 ? T(1) : std::sin(T(M_PI) * x) / (T(M_PI) * x));
KERF_ELEMENT1(Angle, (std::isnan(x) ? x : x < 0 ? T(M_PI) : T(0)));
KERF_ELEMENT1(Lgamma, std::lgamma(x));
KERF_ELEMENT1(Digamma, special::digamma(double(x)));
KERF_ELEMENT1(ErfInv, special::erfInverse(double(x)));
KERF_ELEMENT1(BesselI0, special::growing(special::besselI0(double(x)), x));
KERF_ELEMENT1(BesselI0e, special::besselI0e(double(x)));
KERF_ELEMENT1(BesselI1, special::growing(special::besselI1(double(x)), x, true));
KERF_ELEMENT1(BesselI1e, special::besselI1e(double(x)));
KERF_ELEMENT1(Entropy, (std::isnan(x) ? x
                        : x > 0       ? -x * std::log(x)
                        : x == 0      ? T(0)
                                      : -std::numeric_limits<T>::infinity()));
KERF_ELEMENT1(Erfcx, special::erfcx(double(x)));
KERF_ELEMENT1(CdfArgument, -x* T(M_SQRT1_2));
KERF_ELEMENT2(HalfOfSecond, T(0.5) * y);
KERF_ELEMENT1(NormalInverse, special::normalInverse(double(x)));
KERF_ELEMENT1(LogNormalCdf, special::logNormalCdf(double(x)));

struct BitwiseNotSpecs {
  static constexpr PointwiseSpec make() {
    PointwiseSpec spec = integerSpec<BitwiseNot>();
    spec.boolean = detail::chunkOf<LogicalNot, std::int64_t>;
    return spec;
  }
};

constexpr PointwiseSpec noBool(PointwiseSpec spec) {
  spec.allowBool = false;
  return spec;
}

template <class F>
constexpr PointwiseSpec toFloat = floatSpec<F>();
template <VectorFunction function>
constexpr PointwiseSpec vector = programSpec<VectorUnary<function>>();
constexpr PointwiseSpec normalCdfSpec = programSpec<Around<CdfArgument, VectorFunction::Erfc, HalfOfSecond>>();
template <class F>
constexpr PointwiseSpec same = numberSpec<F>();
template <class F>
constexpr PointwiseSpec sameNoBool = noBool(numberSpec<F>());
template <class F>
constexpr PointwiseSpec toBool = numberSpec<F>(Promotion::ToBool);
constexpr PointwiseSpec bitwiseNot = BitwiseNotSpecs::make();

constexpr OpRow pointwiseUnaryRows[] = {
    pointwiseRow("aten::abs(Tensor self) -> Tensor", ordered<Abs>),
    pointwiseRow("aten::neg(Tensor self) -> Tensor", sameNoBool<Neg>),
    pointwiseRow("aten::sign(Tensor self) -> Tensor", ordered<Sign>),
    pointwiseRow("aten::sgn(Tensor self) -> Tensor", ordered<Sign>),
    pointwiseRow("aten::square(Tensor self) -> Tensor", same<Square>),
    pointwiseRow("aten::ceil(Tensor self) -> Tensor", same<Ceil>),
    pointwiseRow("aten::floor(Tensor self) -> Tensor", same<Floor>),
    pointwiseRow("aten::trunc(Tensor self) -> Tensor", same<Trunc>),
    pointwiseRow("aten::round(Tensor self) -> Tensor", same<Round>),
    pointwiseRow("aten::frac(Tensor self) -> Tensor", toFloat<Frac>),
    pointwiseRow("aten::bitwise_not(Tensor self) -> Tensor", bitwiseNot),
    pointwiseRow("aten::logical_not(Tensor self) -> Tensor", toBool<LogicalNot>),
    pointwiseRow("aten::isnan(Tensor self) -> Tensor", toBool<IsNan>),
    pointwiseRow("aten::isinf(Tensor self) -> Tensor", toBool<IsInf>),
    pointwiseRow("aten::isposinf(Tensor self) -> Tensor", toBool<IsPosInf>),
    pointwiseRow("aten::isneginf(Tensor self) -> Tensor", toBool<IsNegInf>),
    pointwiseRow("aten::signbit(Tensor self) -> Tensor", toBool<SignBit>),
    pointwiseRow("aten::acos(Tensor self) -> Tensor", vector<VectorFunction::Acos>),
    pointwiseRow("aten::acosh(Tensor self) -> Tensor", vector<VectorFunction::Acosh>),
    pointwiseRow("aten::asin(Tensor self) -> Tensor", vector<VectorFunction::Asin>),
    pointwiseRow("aten::asinh(Tensor self) -> Tensor", vector<VectorFunction::Asinh>),
    pointwiseRow("aten::atan(Tensor self) -> Tensor", vector<VectorFunction::Atan>),
    pointwiseRow("aten::atanh(Tensor self) -> Tensor", vector<VectorFunction::Atanh>),
    pointwiseRow("aten::cos(Tensor self) -> Tensor", vector<VectorFunction::Cos>),
    pointwiseRow("aten::cosh(Tensor self) -> Tensor", vector<VectorFunction::Cosh>),
    pointwiseRow("aten::sin(Tensor self) -> Tensor", vector<VectorFunction::Sin>),
    pointwiseRow("aten::sinh(Tensor self) -> Tensor", vector<VectorFunction::Sinh>),
    pointwiseRow("aten::tan(Tensor self) -> Tensor", vector<VectorFunction::Tan>),
    pointwiseRow("aten::tanh(Tensor self) -> Tensor", vector<VectorFunction::Tanh>),
    pointwiseRow("aten::exp(Tensor self) -> Tensor", vector<VectorFunction::Exp>),
    pointwiseRow("aten::exp2(Tensor self) -> Tensor", vector<VectorFunction::Exp2>),
    pointwiseRow("aten::expm1(Tensor self) -> Tensor", vector<VectorFunction::Expm1>),
    pointwiseRow("aten::log(Tensor self) -> Tensor", vector<VectorFunction::Log>),
    pointwiseRow("aten::log10(Tensor self) -> Tensor", vector<VectorFunction::Log10>),
    pointwiseRow("aten::log1p(Tensor self) -> Tensor", vector<VectorFunction::Log1p>),
    pointwiseRow("aten::log2(Tensor self) -> Tensor", vector<VectorFunction::Log2>),
    pointwiseRow("aten::sqrt(Tensor self) -> Tensor", toFloat<Sqrt>),
    pointwiseRow("aten::rsqrt(Tensor self) -> Tensor", toFloat<Rsqrt>),
    pointwiseRow("aten::reciprocal(Tensor self) -> Tensor", toFloat<Reciprocal>),
    pointwiseRow("aten::erf(Tensor self) -> Tensor", vector<VectorFunction::Erf>),
    pointwiseRow("aten::erfc(Tensor self) -> Tensor", vector<VectorFunction::Erfc>),
    pointwiseRow("aten::erfinv(Tensor self) -> Tensor", toFloat<ErfInv>),
    pointwiseRow("aten::deg2rad(Tensor self) -> Tensor", toFloat<Deg2Rad>),
    pointwiseRow("aten::rad2deg(Tensor self) -> Tensor", toFloat<Rad2Deg>),
    pointwiseRow("aten::sinc(Tensor self) -> Tensor", toFloat<Sinc>),
    pointwiseRow("aten::angle(Tensor self) -> Tensor", toFloat<Angle>),
    pointwiseRow("aten::lgamma(Tensor self) -> Tensor", toFloat<Lgamma>),
    pointwiseRow("aten::digamma(Tensor self) -> Tensor", toFloat<Digamma>),
    pointwiseRow("aten::i0(Tensor self) -> Tensor", toFloat<BesselI0>),
    pointwiseRow("aten::special_i0e(Tensor self) -> Tensor", toFloat<BesselI0e>),
    pointwiseRow("aten::special_i1(Tensor self) -> Tensor", toFloat<BesselI1>),
    pointwiseRow("aten::special_i1e(Tensor self) -> Tensor", toFloat<BesselI1e>),
    pointwiseRow("aten::special_entr(Tensor self) -> Tensor", toFloat<Entropy>),
    pointwiseRow("aten::special_erfcx(Tensor self) -> Tensor", toFloat<Erfcx>),
    pointwiseRow("aten::special_ndtr(Tensor self) -> Tensor", normalCdfSpec),
    pointwiseRow("aten::special_ndtri(Tensor self) -> Tensor", toFloat<NormalInverse>),
    pointwiseRow("aten::special_log_ndtr(Tensor self) -> Tensor", toFloat<LogNormalCdf>),
};

const OpRegistration pointwiseUnaryOps({.rows = pointwiseUnaryRows});

}  // namespace

}  // namespace kerf::inline ops
