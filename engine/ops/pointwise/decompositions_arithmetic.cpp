// Decompositions of element-wise arithmetic.
#include <cmath>
#include <limits>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Formula logicalAnd(const Formula& a, const Formula& b) { return {"aten.logical_and.default"_op, {a, b}}; }
Formula logicalNot(const Formula& a) { return {"aten.logical_not.default"_op, {a}}; }

/// self + value · tensor1 · tensor2
Result<Value> addcmul(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] + p[1] * p[3] * p[2]);
}
/// self + value · tensor1 / tensor2
Result<Value> addcdiv(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] + p[1] / p[2] * p[3]);
}
Result<Value> angle(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Tensor& self = args.tensor(0);
  if (isComplex(self.dtype())) {
    const Formula real({"aten.real.default"_op, {p[0]}}), imaginary({"aten.imag.default"_op, {p[0]}});
    return p.done(where(isnan(real), std::nan(""), {"aten.atan2.default"_op, {imaginary, real}}));
  }
  const Formula pi = p(scalarTensor(M_PI, toFloating(self.dtype()), self.device()));
  const Formula turned = p(where(p[0] < 0, pi, 0.0));
  return p.done(where(isnan(p[0]), std::nan(""), turned));
}
/// A bound may be a number or a tensor.
template <int bound>
Result<Value> clampMinOrClampMax(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const OpId clamps = args.values[1].isTensor() ? "aten.clamp.Tensor"_op : "aten.clamp.default"_op;
  if constexpr (bound == 0) return p.done({clamps, {p[0], p[1]}});
  return p.done({clamps, {p[0], Value(), p[1]}});
}
Result<Value> clampByBounds(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const bool byTensors = args.values[1].isTensor() || args.values[2].isTensor();
  Formula x = p[0];
  if (!args.none(1)) x = {byTensors ? "aten.clamp_min.Tensor"_op : "aten.clamp_min.default"_op, {x, p[1]}};
  if (!args.none(2)) x = {byTensors ? "aten.clamp_max.Tensor"_op : "aten.clamp_max.default"_op, {x, p[2]}};
  return p.done(x);
}
Result<Value> rad2deg(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] * (180 / M_PI));
}
Result<Value> deg2rad(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] * (M_PI / 180));
}
/// fmin and fmax: NaN only where both are.
template <bool greatest>
Result<Value> fminOrFmax(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula wins = greatest ? p[1] < p[0] : p[1] > p[0];
  return p.done(where(isnan(p[1]) | wins, p[0], p[1]));
}
Result<Value> floorDivide(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(roundedQuotient(p[0], p[1], "floor"));
}
Result<Value> frac(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] - floor(abs(p[0])) * sign(p[0]));
}
Result<Value> heaviside(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula zero = p(equals(p[0], 0));
  const Formula below = p({"aten.logical_or.default"_op, {p[0] < 0, isnan(p[0])}});
  const Formula step = p(where(below, 0, 1));
  return p.done(where(zero, p[1], step));
}
template <bool negative>
Result<Value> isposinfOrIsneginf(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  if (isFloating(args.tensor(0).dtype())) return p.done(equals(p[0], negative ? -infinity : infinity));
  return p.done({"aten.zeros_like.default"_op, {p[0]}, {{"dtype", DType::Bool}}});
}
/// lcm(a, b) = |a / gcd · b|; nothing divides 0 and 0 but 1.
Result<Value> lcm(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  Formula divisor = p({"aten.gcd.default"_op, {p[0], p[1]}});
  divisor = p(where(equals(divisor, 0), 1, divisor));
  return p.done(abs(roundedQuotient(p[0], divisor, "trunc") * p[1]));
}
/// Interpolates from the nearer end. The result is laid out as the arguments are.
Result<Value> lerp(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula weight = p(p[2].isNumber() ? newFull(p[0], {}, p[2]) : p[2]);
  const Formula far = p(abs(weight) >= 0.5);
  const Formula share = p(where(far, weight - 1, weight));
  const Formula base = p(where(far, p[1], p[0]));
  return p.done(share * (p[1] - p[0]) + base);
}
/// log(exp(a) + exp(b)), or of powers of 2.
template <bool ofTwo>
Result<Value> logaddexpOrLogaddexp2(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula first = p(p[0] >= p[1]);
  const Formula high = p(where(first, p[0], p[1])), low = p(where(first, p[1], p[0]));
  const Formula unbounded =
      p(ofTwo ? Formula("aten.isinf.default"_op, {p[0]}) : logicalNot({"aten.isfinite.default"_op, {p[0]}}));
  const Formula equal = p(logicalAnd(unbounded, equals(p[0], p[1])));
  if (ofTwo)
    return p.done(where(equal, p[0], high + log1p({"aten.exp2.default"_op, {low - high}}) * (1 / std::log(2.0))));
  return p.done(where(equal, p[0], high + log1p(exp(low - high))));
}
/// masked_fill(self, mask, value): dense, whatever self is.
Result<Value> maskedFillProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Tensor& self = args.tensor(0);
  Formula value = p[2];
  if (args.values[2].isTensor())
    value = p(to(value, self.dtype()));
  else if (isFloating(self.dtype()))
    value = args.number(2);
  else if (self.dtype() == DType::Bool)
    value = args.number(2) != 0;
  return p.done(contiguous(where(p[1], value, p[0])));
}
Result<Value> mvlgamma(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const auto count = args.integer(1);
  const Tensor& self = args.tensor(0);
  const double constant = 0.25 * double(count * (count - 1)) * std::log(M_PI);
  const Formula steps = p(arange(1 - count, 1, 1, toFloating(self.dtype()), self.device()) * 0.5);
  const Formula logs({"aten.lgamma.default"_op, {unsqueeze(p[0], -1) + steps}});
  return p.done(sum(logs, Sizes{-1}) + constant);
}
double largestFinite(DType dtype) {
  if (dtype == DType::Float16) return 65504;
  if (dtype == DType::BFloat16) return 0x1.fep127;
  return dtype == DType::Float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}
/// nan_to_num(self, nan, posinf, neginf) of real numbers.
Result<Value> nanToNum(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const DType dtype = args.tensor(0).dtype();
  if (!isFloating(dtype)) return p.done(clone(p[0]));
  const double most = largestFinite(dtype);
  Formula x = p(where(isnan(p[0]), args.numberIf(1).value_or(0), p[0]));
  x = p(where({"aten.isneginf.default"_op, {x}}, args.numberIf(3).value_or(-most), x));
  return p.done(where({"aten.isposinf.default"_op, {x}}, args.numberIf(2).value_or(most), x));
}
Result<Value> roundDecimals(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double unit = std::pow(10.0, double(args.integer(1)));
  return p.done(round(p[0] * unit) * (1 / unit));
}
/// other - alpha · self
Result<Value> rsub(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  if (args.number(2) == 1) return p.done({"aten.sub.Tensor"_op, {p[1], p[0]}});
  return p.done({"aten.sub.Tensor"_op, {p[1], p[0]}, {{"alpha", args.values[2]}}});
}
Result<Value> sgn(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  if (!isComplex(args.tensor(0).dtype())) return p.done(sign(p[0]));
  const Formula size = p(abs(p[0]));
  return p.done(where(equals(size, 0), 0, p[0] / size));
}
Result<Value> square(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(pow(p[0], 2));
}
template <bool greatest>
Result<Value> maxOrMin(const BoundArguments& args, const OpRunner& run) {
  return run.value(greatest ? "aten.maximum.default"_op : "aten.minimum.default"_op, args.values);
}
Result<Value> sinc(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula x = p(p[0] * M_PI);
  return p.done(where(equals(x, 0), 1, sin(x) / x));
}
Result<Value> entr(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula value = p(where(p[0] > 0, -p[0] * log(p[0]), where(equals(p[0], 0), 0, -infinity)));
  return p.done(where(isnan(p[0]), p[0], value));
}
Result<Value> logNdtr(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula t = p(p[0] * M_SQRT1_2);
  const Formula low = p(log(Formula("aten.special_erfcx.default"_op, {-t}) / 2) - t * t);
  return p.done(where(p[0] < 1.0, low, log1p(-erfc(t) / 2)));
}
/// self · log(other), or of 1 + other; 0 where self is, NaN where other is.
template <bool plusOne>
Result<Value> xlogyOrXlog1py(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula product = p(where(equals(p[0], 0), 0, p[0] * (plusOne ? log1p(p[1]) : log(p[1]))));
  return p.done(where(isnan(p[1]), std::nan(""), product));
}

constexpr OpFacts arithmeticDecompositionsTable[] = {
    decomposes("aten::addcmul", inOpMath<addcmul>),
    decomposes("aten::addcdiv", inOpMath<addcdiv>),
    decomposes("aten::angle", angle),
    decomposes("aten::clamp_min", clampMinOrClampMax<0>),
    decomposes("aten::clamp_max", clampMinOrClampMax<1>),
    decomposes("aten::rad2deg", inRealMath<rad2deg>),
    decomposes("aten::deg2rad", inRealMath<deg2rad>),
    decomposes("aten::fmin", fminOrFmax<false>),
    decomposes("aten::fmax", fminOrFmax<true>),
    decomposes("aten::floor_divide", floorDivide),
    decomposes("aten::frac", inOpMath<frac>),
    decomposes("aten::heaviside", inOpMath<heaviside>),
    decomposes("aten::isposinf", isposinfOrIsneginf<false>),
    decomposes("aten::isneginf", isposinfOrIsneginf<true>),
    decomposes("aten::lcm", lcm),
    decomposes("aten::lerp", inOpMath<lerp>),
    decomposes("aten::logaddexp", inOpMath<logaddexpOrLogaddexp2<false>>),
    decomposes("aten::logaddexp2", inOpMath<logaddexpOrLogaddexp2<true>>),
    decomposes("aten::masked_fill", maskedFillProgram),
    decomposes("aten::mvlgamma", inRealMath<mvlgamma>),
    decomposes("aten::nan_to_num", nanToNum),
    decomposes("aten::round.decimals", roundDecimals),
    decomposes("aten::rsub", rsub),
    decomposes("aten::sgn", sgn),
    decomposes("aten::sinc", inRealMath<sinc>),
    decomposes("aten::special_entr", inRealMath<entr>),
    decomposes("aten::special_log_ndtr", inRealMath<logNdtr>),
    decomposes("aten::special_xlog1py", inRealMath<xlogyOrXlog1py<true>>),
    decomposes("aten::square", square),
    decomposes("aten::max.other", maxOrMin<true>),
    decomposes("aten::min.other", maxOrMin<false>),
    decomposes("aten::xlogy", inRealMath<xlogyOrXlog1py<false>>),
};

constexpr TableProgram inductor[] = {
    {"aten::clamp", clampByBounds},
};

const OpRegistration arithmeticDecompositions({.facts = arithmeticDecompositionsTable, .programs = inductor});

}  // namespace

}  // namespace kerf::inline ops
