// Two-operand element-wise arithmetic.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/pointwise/special_functions.h"
#include "engine/ops/pointwise/vector.h"

#include <numeric>

namespace kerf::inline ops {
namespace {

using namespace element;

KERF_ELEMENT2(Add, add(x, y));
KERF_ELEMENT3(AddScaled, add(x, mul(y, z)));
KERF_ELEMENT2(Sub, sub(x, y));
KERF_ELEMENT3(SubScaled, sub(x, mul(y, z)));
KERF_ELEMENT2(ReverseSub, sub(y, x));
KERF_ELEMENT3(ReverseSubScaled, sub(y, mul(x, z)));
KERF_ELEMENT2(Mul, mul(x, y));

/// x·alpha as 16-bit floats store it before it is added.
template <class T16, class V>
V scaled16(V x, V alpha) {
  if constexpr (isInt<V>)
    return mul(x, alpha);
  else
    return V(float(T16(float(x * alpha))));
}
template <class T16>
KERF_ELEMENT3(AddScaled16, add(x, scaled16<T16>(y, z)));
template <class T16>
KERF_ELEMENT3(SubScaled16, sub(x, scaled16<T16>(y, z)));
template <class T16>
KERF_ELEMENT3(ReverseSubScaled16, sub(y, scaled16<T16>(x, z)));

KERF_ELEMENT2(Pow, power(x, y));
KERF_ELEMENT2(RootOfBase, std::sqrt(x));
KERF_ELEMENT2(InverseRootOfBase, T(1) / std::sqrt(x));
KERF_ELEMENT2(Maximum, maximum(x, y));
KERF_ELEMENT2(Minimum, minimum(x, y));
KERF_ELEMENT2(FMax, isNan(x) ? y : isNan(y) ? x : maximum(x, y));
KERF_ELEMENT2(FMin, isNan(x) ? y : isNan(y) ? x : minimum(x, y));
KERF_ELEMENT2(CopySign, std::copysign(x, y));
KERF_ELEMENT2(NextAfter, std::nextafter(x, y));
KERF_ELEMENT2(BitAnd, x& y);
KERF_ELEMENT2(BitOr, x | y);
KERF_ELEMENT2(BitXor, x ^ y);
KERF_ELEMENT2(ShiftLeft, y < 0 || y > 63 ? 0 : T(std::uint64_t(x) << y));
KERF_ELEMENT2(ShiftRight, x >> (y < 0 || y > 63 ? 63 : y));
KERF_ELEMENT2(ShiftRightUnsigned, y > 63 ? 0 : x >> y);
/// Euclid's steps as C takes them: the least integer has no magnitude and stays negative.
template <class T>
T greatestDivisor(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    a = a < 0 ? T(std::make_unsigned_t<T>(0) - std::make_unsigned_t<T>(a)) : a;
    b = b < 0 ? T(std::make_unsigned_t<T>(0) - std::make_unsigned_t<T>(b)) : b;
  }
  while (a != 0) {
    const T last = a;
    a = a == T(-1) ? T(0) : T(b % a);
    b = last;
  }
  return b;
}
KERF_ELEMENT2(Gcd, greatestDivisor(x, y));
KERF_ELEMENT2(Lcm, x == 0 || y == 0 ? 0 : std::abs(mul(x / std::gcd(x, y), y)));
KERF_ELEMENT2(Heaviside, x == 0 ? y : T(x > 0));
KERF_ELEMENT2(Xlogy, std::isnan(y) ? y : x == 0 ? T(0) : x * std::log(y));
KERF_ELEMENT2(Xlog1py, std::isnan(y) ? y : x == 0 ? T(0) : x * std::log1p(y));
KERF_ELEMENT2(Ldexp, x* std::exp2(y));
KERF_ELEMENT2(IncompleteGamma, special::gammaP(double(x), double(y)));
KERF_ELEMENT2(IncompleteGammaC, special::gammaQ(double(x), double(y)));
KERF_ELEMENT2(Zeta, special::zeta(x, y));

template <class T>
T logAddExp(T x, T y, bool binary) {
  if (std::isinf(x) && x == y) return x;
  const T larger = std::max(x, y);
  const T difference = -std::abs(x - y);
  if (std::isnan(x) || std::isnan(y)) return x + y;
  if (binary) return larger + T(std::log1p(std::exp2(difference)) / T(M_LN2));
  return larger + std::log1p(std::exp(difference));
}
KERF_ELEMENT2(LogAddExp, logAddExp(x, y, false));
KERF_ELEMENT2(LogAddExp2, logAddExp(x, y, true));

template <class F>
constexpr PointwiseSpec exact = numberSpec<F>(Promotion::Same, NumberRounding::Exact);
template <class F>
constexpr PointwiseSpec same = numberSpec<F>();
template <class F>
constexpr PointwiseSpec toFloat = floatSpec<F>();
template <VectorFunction function>
constexpr PointwiseSpec vector = programSpec<VectorBinary<function>>();
template <class F>
constexpr PointwiseSpec integers = integerSpec<F>();
constexpr PointwiseSpec shiftRight = [] {
  PointwiseSpec spec = integerSpec<ShiftRight>();
  spec.u64 = withUnsigned<ShiftRightUnsigned>({}).u64;
  return spec;
}();

/// Powers with the same exponent for a whole run are mostly small whole numbers.
struct PowProgram {
  static constexpr std::size_t arity = 2;
  struct Square {
    KERF_KERNEL void run(const double* x, double* out, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) out[i] = x[i] * x[i];
    }
  };
  struct Cube {
    KERF_KERNEL void run(const double* x, double* out, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) out[i] = x[i] * x[i] * x[i];
    }
  };
  static void run(const double* const* in, double* out, std::int64_t count) {
    const double exponent = in[1][0];
    const bool one = (exponent == 2 || exponent == 3) &&
                     std::all_of(in[1], in[1] + count, [&](double other) { return other == exponent; });
    if (one && exponent == 2) return perIsa<Square>(in[0], out, count);
    if (one) return perIsa<Cube>(in[0], out, count);
    vectorMath(VectorFunction::Pow, in[0], in[1], out, count);
  }
};
constexpr PointwiseSpec powSpec(PointwiseSpec spec) {
  const PointwiseSpec program = programSpec<PowProgram>();
  spec.f32 = program.f32;
  spec.f64 = program.f64;
  return spec;
}
constexpr PointwiseSpec powSame = powSpec(numberSpec<Pow>());
constexpr PointwiseSpec rootOfBase = floatSpec<RootOfBase>();
constexpr PointwiseSpec inverseRootOfBase = floatSpec<InverseRootOfBase>();

/// PyTorch's CPU kernel takes sqrt and rsqrt for the numbers 0.5 and -0.5, but for float16: they differ from pow at
/// -0.0 and -inf.
const PointwiseSpec* rootForm(const BoundArguments& args) {
  const auto* exponent = args.values[1].as<double>();
  if (exponent == nullptr || std::abs(*exponent) != 0.5) return nullptr;
  const DType dtype = resultType(std::vector<Value>{args.values[0], args.values[1]});
  if (!isFloating(dtype) || dtype == DType::Float16) return nullptr;
  return *exponent > 0 ? &rootOfBase : &inverseRootOfBase;
}
constexpr PointwiseSpec powNumber = [] {
  PointwiseSpec spec = powSame;
  spec.select = rootForm;
  return spec;
}();

/// add and sub take `alpha` as third operand only when it is not 1. Unlike mul and div they round numbers to the
/// tensor's type first.
template <class Plain, template <class> class Scaled16>
const PointwiseSpec* scaledForm(const BoundArguments& args) {
  const auto* alpha = args.values[2].as<std::int64_t>();
  if (alpha && *alpha == 1) return &same<Plain>;
  const DType dtype = resultType(std::vector<Value>{args.values[0], args.values[1]});
  if (dtype == DType::BFloat16) return &same<Scaled16<BFloat16>>;
  return dtype == DType::Float16 ? &same<Scaled16<Half>> : nullptr;
}

template <class Plain, class Scaled, template <class> class Scaled16>
constexpr PointwiseSpec scaledSpec(bool allowBool) {
  PointwiseSpec spec = numberSpec<Scaled>();
  spec.select = scaledForm<Plain, Scaled16>;
  spec.allowBool = allowBool;
  return spec;
}
constexpr PointwiseSpec scaledAdd = scaledSpec<Add, AddScaled, AddScaled16>(true);
constexpr PointwiseSpec scaledSub = scaledSpec<Sub, SubScaled, SubScaled16>(false);
constexpr PointwiseSpec scaledReverseSub = scaledSpec<ReverseSub, ReverseSubScaled, ReverseSubScaled16>(false);

/// The neighbour of a 16-bit float: its bits count up and down with its magnitude.
template <class T>
struct NextAfter16 {
  static constexpr int arity = 2;
  template <class V>
  static V apply(V x, V y) {
    if (isNan(x) || isNan(y)) return x + y;
    if (x == y) return y;
    T own = T(float(x));
    if (x == 0) {
      own.bits = std::uint16_t(y < 0 ? 0x8001 : 0x0001);
    } else {
      const bool away = (x < y) == (x > 0);
      own.bits = std::uint16_t(away ? own.bits + 1 : own.bits - 1);
    }
    return V(float(own));
  }
};

const PointwiseSpec* neighbours(const BoundArguments& args) {
  const DType dtype = resultType(std::vector<Value>{args.values[0], args.values[1]});
  if (dtype == DType::BFloat16) return &toFloat<NextAfter16<BFloat16>>;
  return dtype == DType::Float16 ? &toFloat<NextAfter16<Half>> : &toFloat<NextAfter>;
}
constexpr PointwiseSpec nextAfter = [] {
  PointwiseSpec spec = toFloat<NextAfter>;
  spec.select = neighbours;
  return spec;
}();

/// An integer tensor to a negative integer power is an error in torch.
Result<Value> powKernel(const BoundArguments& args) {
  const auto* exponent = args.values[1].as<std::int64_t>();
  const Tensor* base = args.tensorIf(0);
  if (exponent && *exponent < 0 && base && isIntegral(base->dtype()))
    return mismatch(args, "integers to negative integer powers are not allowed");
  return pointwiseKernel(args);
}

/// A whole number has no multiple by a fraction.
Result<Value> scaledShape(const BoundArguments& args) {
  const Value& alpha = args.values[2];
  const DType dtype = resultType(std::vector<Value>{args.values[0], args.values[1]});
  if (alpha.as<double>() && isIntegral(dtype))
    return mismatch(args, "for integral input tensors, argument alpha must not be a floating point number");
  if (alpha.as<bool>() && dtype != DType::Bool)
    return mismatch(args, "boolean alpha is only supported for boolean results");
  return pointwiseShape(args);
}
/// torch has no difference of two truths.
Result<Value> differenceShape(const BoundArguments& args) {
  if (resultType(std::vector<Value>{args.values[0], args.values[1]}) == DType::Bool)
    return mismatch(args, "subtraction of two bool tensors is not supported; use logical_xor");
  return scaledShape(args);
}
constexpr OpRow scaledRow(const char* schema, const PointwiseSpec& spec, ShapeRule shape = scaledShape) {
  return {schema, OpTrait::Pointwise, shape, pointwiseKernel, &spec};
}

constexpr OpRow pointwiseBinaryRows[] = {
    scaledRow("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", scaledAdd),
    scaledRow("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", scaledAdd),
    scaledRow("aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", scaledSub, differenceShape),
    scaledRow("aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", scaledSub, differenceShape),
    scaledRow("aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", scaledReverseSub,
              differenceShape),
    scaledRow("aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", scaledReverseSub,
              differenceShape),
    pointwiseRow("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", exact<Mul>),
    pointwiseRow("aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", exact<Mul>),
    {"aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", OpTrait::Pointwise, pointwiseShape, powKernel,
     &powNumber},
    pointwiseRow("aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", powSame),
    pointwiseRow("aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor", powSame),
    pointwiseRow("aten::maximum(Tensor self, Tensor other) -> Tensor", ordered<Maximum>),
    pointwiseRow("aten::minimum(Tensor self, Tensor other) -> Tensor", ordered<Minimum>),
    pointwiseRow("aten::max.other(Tensor self, Tensor other) -> Tensor", ordered<Maximum>),
    pointwiseRow("aten::min.other(Tensor self, Tensor other) -> Tensor", ordered<Minimum>),
    pointwiseRow("aten::fmax(Tensor self, Tensor other) -> Tensor", ordered<FMax>),
    pointwiseRow("aten::fmin(Tensor self, Tensor other) -> Tensor", ordered<FMin>),
    pointwiseRow("aten::clamp_min(Tensor self, Scalar min) -> Tensor", ordered<Maximum>),
    pointwiseRow("aten::clamp_max(Tensor self, Scalar max) -> Tensor", ordered<Minimum>),
    pointwiseRow("aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", ordered<Maximum>),
    pointwiseRow("aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", ordered<Minimum>),
    pointwiseRow("aten::atan2(Tensor self, Tensor other) -> Tensor", vector<VectorFunction::Atan2>),
    pointwiseRow("aten::hypot(Tensor self, Tensor other) -> Tensor", vector<VectorFunction::Hypot>),
    pointwiseRow("aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor", toFloat<CopySign>),
    pointwiseRow("aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor", toFloat<CopySign>),
    pointwiseRow("aten::nextafter(Tensor self, Tensor other) -> Tensor", nextAfter),
    pointwiseRow("aten::bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor", integers<BitAnd>),
    pointwiseRow("aten::bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor", integers<BitAnd>),
    pointwiseRow("aten::bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", integers<BitOr>),
    pointwiseRow("aten::bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor", integers<BitOr>),
    pointwiseRow("aten::bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor", integers<BitXor>),
    pointwiseRow("aten::bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor", integers<BitXor>),
    pointwiseRow("aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", integers<ShiftLeft>),
    pointwiseRow("aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", shiftRight),
    pointwiseRow("aten::__lshift__.Scalar(Tensor self, Scalar other) -> Tensor", integers<ShiftLeft>),
    pointwiseRow("aten::__rshift__.Scalar(Tensor self, Scalar other) -> Tensor", shiftRight),
    pointwiseRow("aten::gcd(Tensor self, Tensor other) -> Tensor", integers<Gcd>),
    pointwiseRow("aten::lcm(Tensor self, Tensor other) -> Tensor", integers<Lcm>),
    pointwiseRow("aten::heaviside(Tensor self, Tensor values) -> Tensor", ordered<Heaviside>),
    pointwiseRow("aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor", toFloat<Xlogy>),
    pointwiseRow("aten::special_xlog1py(Tensor self, Tensor other) -> Tensor", toFloat<Xlog1py>),
    pointwiseRow("aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor", toFloat<Ldexp>),
    pointwiseRow("aten::logaddexp(Tensor self, Tensor other) -> Tensor", toFloat<LogAddExp>),
    pointwiseRow("aten::logaddexp2(Tensor self, Tensor other) -> Tensor", toFloat<LogAddExp2>),
    pointwiseRow("aten::igamma(Tensor self, Tensor other) -> Tensor", toFloat<IncompleteGamma>),
    pointwiseRow("aten::igammac(Tensor self, Tensor other) -> Tensor", toFloat<IncompleteGammaC>),
    pointwiseRow("aten::special_zeta(Tensor self, Tensor other) -> Tensor", toFloat<Zeta>),
};

const OpRegistration pointwiseBinaryOps({.rows = pointwiseBinaryRows});

}  // namespace

}  // namespace kerf::inline ops
