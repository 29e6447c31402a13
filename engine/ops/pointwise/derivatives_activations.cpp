// Derivatives of activations. What autograd calls are their backward ops, whose own derivatives are in
// derivatives_backward.cpp.
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

// Activations: their backward ops

Formula tanh(const SlopeCall& c) { return {"aten.tanh_backward.default"_op, {c.flow, c.y()}}; }
Formula sigmoid(const SlopeCall& c) { return {"aten.sigmoid_backward.default"_op, {c.flow, c.y()}}; }
Formula relu(const SlopeCall& c) { return {"aten.threshold_backward.default"_op, {c.flow, c.y(), 0}}; }
Formula threshold(const SlopeCall& c) { return {"aten.threshold_backward.default"_op, {c.flow, c.x(), c.x(1)}}; }
/// A keyword without its default is not written.
Formula gelu(const SlopeCall& c) {
  if (c.call.args.text(1) == "none") return {"aten.gelu_backward.default"_op, {c.flow, c.x()}};
  return {"aten.gelu_backward.default"_op, {c.flow, c.x()}, {{"approximate", c.x(1).value()}}};
}
/// Of complex numbers it is written out.
Formula silu(const SlopeCall& c) {
  if (!isComplex(c.x().dtype())) return {"aten.silu_backward.default"_op, {c.flow, c.x()}};
  const Formula open = sigmoid(c.x());
  return c.flow * c.conj(open * plus(c.x() * minusFrom(1, open), 1));
}
Formula mish(const SlopeCall& c) { return {"aten.mish_backward.default"_op, {c.flow, c.x()}}; }
Formula leakyRelu(const SlopeCall& c) {
  return {"aten.leaky_relu_backward.default"_op, {c.flow, c.x(), c.x(1), false}};
}
Formula elu(const SlopeCall& c) {
  return {"aten.elu_backward.default"_op, {c.flow, c.x(1), c.x(2), c.x(3), false, c.x()}};
}
Formula celu(const SlopeCall& c) {
  return {"aten.elu_backward.default"_op, {c.flow, c.x(1), 1, 1.0 / c.call.args.number(1), false, c.x()}};
}
Formula hardtanh(const SlopeCall& c) {
  return {"aten.hardtanh_backward.default"_op, {c.flow, c.x(), c.x(1), c.x(2)}};
}
Formula relu6(const SlopeCall& c) { return {"aten.hardtanh_backward.default"_op, {c.flow, c.x(), 0, 6}}; }
Formula softplus(const SlopeCall& c) {
  return {"aten.softplus_backward.default"_op, {c.flow, c.x(), c.x(1), c.x(2)}};
}
Formula hardswish(const SlopeCall& c) { return {"aten.hardswish_backward.default"_op, {c.flow, c.x()}}; }
Formula hardsigmoid(const SlopeCall& c) { return {"aten.hardsigmoid_backward.default"_op, {c.flow, c.x()}}; }
Formula hardshrink(const SlopeCall& c) { return {"aten.hardshrink_backward.default"_op, {c.flow, c.x(), c.x(1)}}; }
Formula softshrink(const SlopeCall& c) { return {"aten.softshrink_backward.default"_op, {c.flow, c.x(), c.x(1)}}; }
/// The buffer of the CPU's forward op, exp(-|x|).
Formula logSigmoid(const SlopeCall& c) {
  return {"aten.log_sigmoid_backward.default"_op, {c.flow, c.x(), exp(-abs(c.x()))}};
}

/// log_sigmoid_forward gives the buffer too.
void logSigmoidForward(Backward& b) {
  if (b.has(0)) b.give(0, {"aten.log_sigmoid_backward.default"_op, {b.grad(), b[0], b.result(1)}});
}
std::vector<Formula> logSigmoidForwardTangent(Forward& f) {
  return {{"aten.log_sigmoid_backward.default"_op, {f.tangent(), f[0], f.result(1)}}, {}};
}

/// _prelu_kernel(self, weight)
void prelu(Backward& b) {
  const auto [self, weight] = b.several<2>({"aten._prelu_kernel_backward.default"_op, {b.grad(), b[0], b[1]}});
  b.give(0, self);
  b.give(1, weight);
}
std::vector<Formula> preluTangent(Forward& f) {
  const Formula scaled = f.orZeros(0) * f[1] + f[0] * f.orZeros(1);
  return {where(f[0] >= 0, f.orZeros(0), scaled)};
}

/// glu(self, dim): the first half times the sigmoid of the second.
void glu(Backward& b) { b.give(0, {"aten.glu_backward.default"_op, {b.grad(), b[0], b[1]}}); }
std::vector<Formula> gluTangent(Forward& f) {
  const auto halves = [&](const Formula& x) {
    const SymInt half = floorDiv(f.args.tensor(0).symSize(f.dim(1)), 2);
    return std::pair(slice(x, f.dim(1), 0, half), slice(x, f.dim(1), half, half + half));
  };
  const auto [value, gate] = halves(f[0]);
  const auto [valueTangent, gateTangent] = halves(f.tangent());
  const Formula open = sigmoid(gate);
  return {open * valueTangent + value * Formula("aten.sigmoid_backward.default"_op, {gateTangent, open})};
}

constexpr OpFacts activationDerivativesTable[] = {
    slope<tanh>("aten::tanh"),
    slope<sigmoid>("aten::sigmoid"),
    slope<relu>("aten::relu"),
    slope<threshold>("aten::threshold"),
    slope<gelu>("aten::gelu"),
    slope<silu>("aten::silu"),
    slope<mish>("aten::mish"),
    slope<leakyRelu>("aten::leaky_relu"),
    slope<elu>("aten::elu"),
    slope<celu>("aten::celu"),
    slope<hardtanh>("aten::hardtanh"),
    slope<relu6>("aten::relu6"),
    slope<softplus>("aten::softplus"),
    slope<hardswish>("aten::hardswish"),
    slope<hardsigmoid>("aten::hardsigmoid"),
    slope<hardshrink>("aten::hardshrink"),
    slope<softshrink>("aten::softshrink"),
    slope<logSigmoid>("aten::log_sigmoid"),
    differentiable<logSigmoidForward, logSigmoidForwardTangent>("aten::log_sigmoid_forward"),
    differentiable<prelu, preluTangent>("aten::_prelu_kernel"),
    differentiable<glu, gluTangent>("aten::glu"),
};

const OpRegistration activationDerivatives({.facts = activationDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
