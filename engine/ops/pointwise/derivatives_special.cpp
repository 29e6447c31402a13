// Derivatives of special functions.
#include <cmath>

#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

const double sqrtTwoPi = std::sqrt(2 * M_PI);

Formula digamma(const Formula& x) { return {"aten.digamma.default"_op, {x}}; }
Formula polygamma(const Formula& order, const Formula& x) { return {"aten.polygamma.default"_op, {order, x}}; }
Formula sgn(const Formula& x) { return {"aten.sgn.default"_op, {x}}; }

Formula lgamma(const SlopeCall& c) { return c.flow * digamma(c.x()); }
Formula digamma(const SlopeCall& c) { return c.flow * polygamma(1, c.x()); }
/// polygamma(n, self)
Formula polygamma(const SlopeCall& c) { return c.flow * polygamma(c.call.args.integer(0) + 1, c.x(1)); }
/// The sum over k < p of digamma(x - k/2).
Formula mvlgamma(const SlopeCall& c) {
  Formula total;
  for (std::int64_t k = 0; k < c.call.args.integer(1); ++k) {
    const Formula term = digamma(k == 0 ? c.x() : plus(c.x(), -0.5 * double(k)));
    total = total.isNone() && k == 0 ? term : total + term;
  }
  return c.flow * total;
}
Formula logit(const SlopeCall& c) { return {"aten.logit_backward.default"_op, {c.flow, c.x(), c.x(1)}}; }

// Bessel functions

/// Where x is not 0; there it is 1/2.
Formula besideZero(const SlopeCall& c, const Formula& slope) {
  const double epsilon = std::numeric_limits<double>::epsilon();
  return c.flow * where(abs(c.x()) > epsilon, slope, 0.5);
}
Formula i0(const SlopeCall& c) { return c.flow * Formula("aten.special_i1.default"_op, {c.x()}); }
Formula i0e(const SlopeCall& c) {
  return c.flow * (Formula("aten.special_i1e.default"_op, {c.x()}) - sgn(c.x()) * c.y());
}
Formula i1(const SlopeCall& c) { return besideZero(c, Formula("aten.i0.default"_op, {c.x()}) - c.y() / c.x()); }
Formula i1e(const SlopeCall& c) {
  const Formula both = sgn(c.x()) + Formula("aten.reciprocal.default"_op, {c.x()});
  return besideZero(c, Formula("aten.special_i0e.default"_op, {c.x()}) - c.y() * both);
}

// Of the normal distribution

Formula erfcx(const SlopeCall& c) { return plus(times(c.x(), 2) * c.y(), -M_2_SQRTPI) * c.flow; }
Formula ndtr(const SlopeCall& c) { return times(exp(times(square(c.x()), -0.5)), 1 / sqrtTwoPi) * c.flow; }
Formula logNdtr(const SlopeCall& c) {
  return times(c.flow / Formula("aten.special_erfcx.default"_op, {times(c.x(), -M_SQRT1_2)}), std::sqrt(2 / M_PI));
}
Formula ndtri(const SlopeCall& c) { return times(exp(times(square(c.y()), 0.5)), sqrtTwoPi) * c.flow; }
Formula entropy(const SlopeCall& c) { return c.flow * plus(-log(c.x()), -1); }

// Of two numbers

Formula atan2(const SlopeCall& c) {
  const Formula y = c.x(0), x = c.x(1);
  const Formula length("aten.reciprocal.default"_op, {y * y + x * x});
  return c.flow * (c.argument == 0 ? x : -y) * length;
}
Formula hypot(const SlopeCall& c) { return c.flow * (c.x(c.argument) / c.y()); }
Formula logaddexp(const SlopeCall& c) { return c.flow / c.conj(plus(exp(c.x(1 - c.argument) - c.x(c.argument)), 1)); }
Formula logaddexp2(const SlopeCall& c) {
  return c.flow / plus(Formula("aten.exp2.default"_op, {c.x(1 - c.argument) - c.x(c.argument)}), 1);
}
/// self · 2^other
Formula ldexp(const SlopeCall& c) {
  return c.argument == 0 ? c.flow * Formula("aten.exp2.default"_op, {c.x(1)}) : c.flow * times(c.y(), M_LN2);
}
/// self · log(other); by self it is 0 where self is 0 and other has no logarithm.
Formula xlogy(const SlopeCall& c) {
  if (c.argument == 1) return c.flow * c.x(0) / c.x(1);
  const Formula none = equals(c.x(0), 0.0) & (c.x(1) <= 0.0);
  return maskedFill(Formula("aten.xlogy.Tensor"_op, {c.flow, c.x(1)}), none, 0.0);
}
Formula xlog1py(const SlopeCall& c) {
  if (c.argument == 1) return c.flow * c.x(0) / plus(c.x(1), 1);
  const Formula none = equals(c.x(0), 0.0) & (c.x(1) <= -1.0);
  return maskedFill(Formula("aten.special_xlog1py.default"_op, {c.flow, c.x(1)}), none, 0.0);
}

// By their first argument PyTorch has no derivative of these

/// d/dx of the lower incomplete gamma function: x^(a-1) · exp(-x) / Γ(a).
Formula gammaDensity(const Formula& a, const Formula& x) {
  return exp(plus(a, -1) * log(x) - x - Formula("aten.lgamma.default"_op, {a}));
}
void igamma(Backward& b) {
  b.refuse(0);
  b.give(1, b.grad() * gammaDensity(b[0], b[1]));
}
void igammac(Backward& b) {
  b.refuse(0);
  b.give(1, -b.grad() * gammaDensity(b[0], b[1]));
}
Formula zetaSlope(const Formula& flow, const Formula& s, const Formula& q) {
  return flow * -s * Formula("aten.special_zeta.default"_op, {plus(s, 1), q});
}
void zeta(Backward& b) {
  b.refuse(0);
  b.give(1, zetaSlope(b.grad(), b[0], b[1]));
}
std::vector<Formula> igammaTangent(Forward& f) {
  if (f.refuses(0)) return {};
  return {f.tangent(1) * gammaDensity(f[0], f[1])};
}
std::vector<Formula> igammacTangent(Forward& f) {
  if (f.refuses(0)) return {};
  return {-f.tangent(1) * gammaDensity(f[0], f[1])};
}
std::vector<Formula> zetaTangent(Forward& f) {
  if (f.refuses(0)) return {};
  return {zetaSlope(f.tangent(1), f[0], f[1])};
}

constexpr OpFacts specialFunctionDerivativesTable[] = {
    slope<lgamma>("aten::lgamma"),
    slope<digamma>("aten::digamma"),
    slope<polygamma>("aten::polygamma"),
    slope<mvlgamma>("aten::mvlgamma"),
    slope<logit>("aten::logit"),
    slope<i0>("aten::i0"),
    slope<i0e>("aten::special_i0e"),
    slope<i1>("aten::special_i1"),
    slope<i1e>("aten::special_i1e"),
    slope<erfcx>("aten::special_erfcx"),
    slope<ndtr>("aten::special_ndtr"),
    slope<logNdtr>("aten::special_log_ndtr"),
    slope<ndtri>("aten::special_ndtri"),
    slope<entropy>("aten::special_entr"),
    slope<atan2>("aten::atan2"),
    slope<hypot>("aten::hypot"),
    slope<logaddexp>("aten::logaddexp"),
    slope<logaddexp2>("aten::logaddexp2"),
    slope<ldexp>("aten::ldexp"),
    slope<xlogy>("aten::xlogy"),
    slope<xlog1py>("aten::special_xlog1py"),
    differentiable<igamma, igammaTangent>("aten::igamma"),
    differentiable<igammac, igammacTangent>("aten::igammac"),
    differentiable<zeta, zetaTangent>("aten::special_zeta"),
};

const OpRegistration specialFunctionDerivatives({.facts = specialFunctionDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
