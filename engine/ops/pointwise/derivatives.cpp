// Derivatives of arithmetic: sums, products, powers, extrema of two tensors and choices between them.
#include <cmath>

#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

Formula same(const SlopeCall& c) { return c.flow; }
Formula add(const SlopeCall& c) { return c.argument == 1 ? scaledBy(c.flow, c.x(2)) : c.flow; }
Formula sub(const SlopeCall& c) { return c.argument == 1 ? scaledBy(-c.flow, c.x(2)) : c.flow; }
/// other - alpha·self
Formula rsub(const SlopeCall& c) { return c.argument == 0 ? scaledBy(-c.flow, c.x(2)) : c.flow; }

Formula conjugateIf(const SlopeCall& c, const Formula& operand) {
  return operand.isNumber() ? operand : c.conj(operand);
}

Formula mul(const SlopeCall& c) { return c.flow * conjugateIf(c, c.x(1 - c.argument)); }
Formula mulNumber(const SlopeCall& c) { return times(c.flow, c.x(1)); }
Formula div(const SlopeCall& c) {
  if (c.argument == 0) return c.flow / conjugateIf(c, c.x(1));
  return -c.flow * c.conj(c.x(0) / c.x(1) / c.x(1));
}
Formula divNumber(const SlopeCall& c) { return over(c.flow, c.x(1)); }
/// div with a rounding mode: without one it is a division.
Formula roundedDiv(const SlopeCall& c) { return c.x(2).isNone() ? div(c) : Formula(); }

/// fmod and remainder: self - other · (the rounded quotient).
Formula rest(const SlopeCall& c, const char* mode) {
  return c.argument == 0 ? c.flow : -c.flow * roundedQuotient(c.x(0), c.x(1), mode);
}
Formula fmod(const SlopeCall& c) { return rest(c, "trunc"); }
Formula remainder(const SlopeCall& c) { return rest(c, "floor"); }

Formula powNumber(const SlopeCall& c) {
  const double exponent = c.call.args.number(1);  // of a symbolic one the value is needed: it becomes a guard
  if (exponent == 0) return zerosLike(c.x(0));
  const Value given = c.x(1).value();
  const auto* whole = given.as<std::int64_t>();
  const Formula less = whole ? Formula(*whole - 1) : Formula(exponent - 1);
  return c.flow * c.conj(times(pow(c.x(0), less), c.x(1)));
}
/// 0 to a power that is not negative stays 0.
Formula powExponent(const SlopeCall& c, const Formula& logarithm, const Formula& isZero) {
  return where(isZero, 0, c.flow * c.conj(c.y() * logarithm));
}
Formula powTensor(const SlopeCall& c) {
  const Formula base = c.x(0), exponent = c.x(1);
  if (c.argument == 0) return where(equals(exponent, 0.0), 0, c.flow * c.conj(exponent * pow(base, exponent - 1)));
  const bool complex = isComplex(exponent.dtype());
  const Formula real = complex ? Formula("aten.real.default"_op, {exponent}) : exponent;
  return powExponent(c, log(base), equals(base, 0) & (real >= 0));
}
Formula powOfNumber(const SlopeCall& c) {
  const double base = c.call.args.number(0);
  if (base == 0) return where(c.x(1) >= 0, 0, c.flow * times(c.y(), std::log(base)));
  return c.flow * c.conj(times(c.y(), std::log(base)));
}

Formula where(const SlopeCall& c) { return c.argument == 1 ? where(c.x(0), c.flow, 0) : where(c.x(0), 0, c.flow); }

/// The operand that wins takes the gradient, equal operands share it.
Formula won(const SlopeCall& c, bool firstLoses) {
  const Formula self = c.x(0), other = c.x(1);
  const Formula shared = where(equals(self, other), over(c.flow, 2), c.flow);
  return maskedFill(shared, firstLoses ? self < other : self > other, 0);
}
Formula maximum(const SlopeCall& c) { return won(c, c.argument == 0); }
Formula minimum(const SlopeCall& c) { return won(c, c.argument == 1); }
/// fmax and fmin: NaN loses, the first one wins among equals.
Formula wonOverNan(const SlopeCall& c, const Formula& firstWins) {
  const Formula first("aten.logical_or.default"_op, {firstWins, isnan(c.x(1))});
  return maskedFill(c.flow, c.argument == 0 ? Formula("aten.logical_not.default"_op, {first}) : first, 0);
}
Formula fmax(const SlopeCall& c) { return wonOverNan(c, c.x(0) >= c.x(1)); }
Formula fmin(const SlopeCall& c) { return wonOverNan(c, c.x(0) <= c.x(1)); }

Formula clampMin(const SlopeCall& c) { return where(c.argument == 0 ? c.x(0) >= c.x(1) : c.x(0) < c.x(1), c.flow, 0); }
Formula clampMax(const SlopeCall& c) { return where(c.argument == 0 ? c.x(0) <= c.x(1) : c.x(0) > c.x(1), c.flow, 0); }
Formula both(const Formula& a, const Formula& b) { return {"aten.logical_and.default"_op, {a, b}}; }
/// clamp(self, min, max), either bound may be none; with min above max it gives max.
Formula clamp(const SlopeCall& c) {
  const Formula self = c.x(0), low = c.x(1), high = c.x(2);
  if (high.isNone()) return clampMin(c);
  if (low.isNone()) return where(c.argument == 0 ? self <= high : self > high, c.flow, 0);
  if (c.argument == 0) return where(both(self >= low, self <= high), c.flow, 0);
  if (c.argument == 1) return where(both(low < high, self < low), c.flow, 0);
  return where(Formula("aten.logical_or.default"_op, {self > high, high < low}), c.flow, 0);
}

Formula copysign(const SlopeCall& c) {
  if (c.argument != 0) return {};
  return c.flow * maskedFill(c.y() / c.x(0), equals(c.x(0), 0), 0);
}
Formula lerpNumber(const SlopeCall& c) {
  return times(c.flow, c.argument == 0 ? Formula(1 - c.call.args.number(2)) : c.x(2));
}
Formula lerp(const SlopeCall& c) {
  if (c.argument == 2) return c.flow * c.conj(c.x(1) - c.x(0));
  return c.flow * c.conj(c.argument == 0 ? minusFrom(1, c.x(2)) : c.x(2));
}
Formula addcmul(const SlopeCall& c) {
  return c.argument == 0 ? c.flow : c.flow * c.conj(times(c.x(3 - c.argument), c.x(3)));
}
Formula addcdiv(const SlopeCall& c) {
  const Formula below = c.x(2);
  if (c.argument == 0) return c.flow;
  if (c.argument == 1) return c.flow * c.conj(times(Formula("aten.reciprocal.default"_op, {below}), c.x(3)));
  return -c.flow * c.conj(times(c.x(1), c.x(3)) / (below * below));
}
/// a·b + c
Formula fma(const SlopeCall& c) { return c.argument == 2 ? c.flow : c.flow * c.x(1 - c.argument); }

Formula maskedFillNumber(const SlopeCall& c) { return maskedFill(c.flow, c.x(1), 0); }
Formula maskedFillTensor(const SlopeCall& c) {
  return c.argument == 0 ? maskedFill(c.flow, c.x(1), 0) : where(c.x(1), c.flow, 0);
}

constexpr OpFacts pointwiseDerivativesTable[] = {
    slope<add>("aten::add.Tensor"),
    slope<same>("aten::add.Scalar"),
    slope<sub>("aten::sub.Tensor"),
    slope<same>("aten::sub.Scalar"),
    slope<rsub>("aten::rsub"),
    slope<mul>("aten::mul.Tensor"),
    slope<mulNumber>("aten::mul.Scalar"),
    slope<div>("aten::div.Tensor"),
    slope<divNumber>("aten::div.Scalar"),
    slope<roundedDiv>("aten::div.Tensor_mode"),
    slope<roundedDiv>("aten::div.Scalar_mode"),
    slope<fmod>("aten::fmod"),
    slope<remainder>("aten::remainder"),
    slope<powNumber>("aten::pow.Tensor_Scalar"),
    slope<powTensor>("aten::pow.Tensor_Tensor"),
    slope<powOfNumber>("aten::pow.Scalar"),
    slope<where>("aten::where"),
    slope<maximum>("aten::maximum"),
    slope<maximum>("aten::max.other"),
    slope<minimum>("aten::minimum"),
    slope<minimum>("aten::min.other"),
    slope<fmax>("aten::fmax"),
    slope<fmin>("aten::fmin"),
    slope<clampMin>("aten::clamp_min"),
    slope<clampMax>("aten::clamp_max"),
    slope<clamp>("aten::clamp"),
    slope<copysign>("aten::copysign"),
    slope<lerpNumber>("aten::lerp.Scalar"),
    slope<lerp>("aten::lerp.Tensor"),
    slope<addcmul>("aten::addcmul"),
    slope<addcdiv>("aten::addcdiv"),
    slope<fma>("prims::fma"),
    slope<maskedFillNumber>("aten::masked_fill.Scalar"),
    slope<maskedFillTensor>("aten::masked_fill.Tensor"),
    slope<same>("aten::clone"),
    slope<same>("aten::_to_copy"),
    slope<same>("aten::lift_fresh_copy"),
    slope<same>("prims::convert_element_type"),
    slope<same>("prims::device_put"),
};

const OpRegistration pointwiseDerivatives({.facts = pointwiseDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
