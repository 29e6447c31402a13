// Derivatives of functions of one number: powers, exponentials, logarithms, trigonometry.
#include <cmath>

#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

Formula reciprocalOf(const Formula& a) { return {"aten.reciprocal.default"_op, {a}}; }
/// number * tensor, as the C++ of autograd has it.
Formula factor(double number, const Formula& a) { return times(a, number); }

Formula neg(const SlopeCall& c) { return -c.flow; }
Formula exp(const SlopeCall& c) { return c.flow * c.conj(c.y()); }
Formula exp2(const SlopeCall& c) { return times(c.flow * c.conj(c.y()), M_LN2); }
Formula expm1(const SlopeCall& c) { return c.flow * plus(c.conj(c.y()), 1); }
Formula log(const SlopeCall& c) { return c.flow / c.conj(c.x()); }
Formula log1p(const SlopeCall& c) { return c.flow / c.conj(plus(c.x(), 1)); }
Formula log2(const SlopeCall& c) { return c.flow / times(c.conj(c.x()), M_LN2); }
Formula log10(const SlopeCall& c) { return c.flow / times(c.conj(c.x()), M_LN10); }

Formula sqrt(const SlopeCall& c) { return c.flow / times(c.conj(c.y()), 2); }
Formula rsqrt(const SlopeCall& c) { return times(c.flow, -0.5) * c.conj(pow(c.y(), 3)); }
Formula reciprocal(const SlopeCall& c) { return -c.flow * c.conj(c.y() * c.y()); }
Formula squared(const SlopeCall& c) { return c.flow * c.conj(times(c.x(), 2)); }
Formula abs(const SlopeCall& c) { return c.flow * Formula("aten.sgn.default"_op, {c.x()}); }

Formula sin(const SlopeCall& c) { return c.flow * c.conj(cos(c.x())); }
Formula cos(const SlopeCall& c) { return c.flow * c.conj(-sin(c.x())); }
Formula tan(const SlopeCall& c) { return c.flow * c.conj(plus(square(c.y()), 1)); }
Formula sinh(const SlopeCall& c) { return c.flow * c.conj(Formula("aten.cosh.default"_op, {c.x()})); }
Formula cosh(const SlopeCall& c) { return c.flow * c.conj(Formula("aten.sinh.default"_op, {c.x()})); }

/// 1 - x²
Formula belowOne(const SlopeCall& c) { return plus(-c.x() * c.x(), 1); }

Formula tanh(const SlopeCall& c) { return {"aten.tanh_backward.default"_op, {c.flow, c.y()}}; }
Formula asin(const SlopeCall& c) { return c.flow * c.conj(rsqrt(belowOne(c))); }
Formula acos(const SlopeCall& c) { return c.flow * c.conj(-rsqrt(belowOne(c))); }
Formula atan(const SlopeCall& c) { return c.flow / c.conj(plus(c.x() * c.x(), 1)); }
Formula asinh(const SlopeCall& c) { return c.flow * c.conj(rsqrt(plus(square(c.x()), 1))); }
/// Of a complex number the branch is that of two roots.
Formula acosh(const SlopeCall& c) {
  if (isComplex(c.x().dtype())) return c.flow * c.conj(rsqrt(plus(c.x(), -1)) * rsqrt(plus(c.x(), 1)));
  return c.flow * rsqrt(plus(square(c.x()), -1));
}
Formula atanh(const SlopeCall& c) { return c.flow * c.conj(reciprocalOf(belowOne(c))); }

/// sin(πx)/(πx)
Formula sinc(const SlopeCall& c) {
  const Formula angle = times(c.x(), M_PI), square = times(c.x() * c.x(), M_PI);
  return where(equals(square, 0.0), 0, c.flow * c.conj((angle * cos(angle) - sin(angle)) / square));
}
Formula degrees(const SlopeCall& c) { return c.flow * Formula(180 / M_PI); }
Formula radians(const SlopeCall& c) { return c.flow * Formula(M_PI / 180); }
Formula same(const SlopeCall& c) { return c.flow; }
Formula nanToNum(const SlopeCall& c) { return c.flow * Formula("aten.isfinite.default"_op, {c.x()}); }

Formula erf(const SlopeCall& c) { return factor(M_2_SQRTPI, exp(-square(c.x()))) * c.flow; }
Formula erfc(const SlopeCall& c) { return factor(-M_2_SQRTPI, exp(-square(c.x()))) * c.flow; }
Formula erfinv(const SlopeCall& c) { return factor(1 / M_2_SQRTPI, exp(square(c.y()))) * c.flow; }

/// mantissa · 2^exponent, of which the mantissa is looked at.
void frexp(Backward& b) {
  if (b.has(0)) b.give(0, b.grad() / Formula("aten.exp2.default"_op, {b.result(1)}));
}
std::vector<Formula> frexpTangent(Forward& f) {
  return {f.tangent() / Formula("aten.exp2.default"_op, {f.result(1)}), {}};
}

constexpr OpFacts functionDerivativesTable[] = {
    slope<neg>("aten::neg"),
    slope<exp>("aten::exp"),
    slope<exp2>("aten::exp2"),
    slope<expm1>("aten::expm1"),
    slope<log>("aten::log"),
    slope<log1p>("aten::log1p"),
    slope<log2>("aten::log2"),
    slope<log10>("aten::log10"),
    slope<sqrt>("aten::sqrt"),
    slope<rsqrt>("aten::rsqrt"),
    slope<reciprocal>("aten::reciprocal"),
    slope<squared>("aten::square"),
    slope<abs>("aten::abs"),
    slope<sin>("aten::sin"),
    slope<cos>("aten::cos"),
    slope<tan>("aten::tan"),
    slope<sinh>("aten::sinh"),
    slope<cosh>("aten::cosh"),
    slope<tanh>("aten::tanh"),
    slope<asin>("aten::asin"),
    slope<acos>("aten::acos"),
    slope<atan>("aten::atan"),
    slope<asinh>("aten::asinh"),
    slope<acosh>("aten::acosh"),
    slope<atanh>("aten::atanh"),
    slope<sinc>("aten::sinc"),
    slope<degrees>("aten::rad2deg"),
    slope<radians>("aten::deg2rad"),
    slope<same>("aten::frac"),
    slope<nanToNum>("aten::nan_to_num"),
    slope<erf>("aten::erf"),
    slope<erfc>("aten::erfc"),
    slope<erfinv>("aten::erfinv"),
    differentiable<frexp, frexpTangent>("aten::frexp"),
};

const OpRegistration functionDerivatives({.facts = functionDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
