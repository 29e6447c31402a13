// Derivatives of the backward ops of activations: what autograd needs to differentiate twice. All are linear in the
// gradient, argument 0: by it they are the op itself.
#include <cmath>

#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// The op itself with `flow` as its gradient.
Formula again(const SlopeCall& c) {
  const BoundArguments& args = c.call.args;
  std::vector<Formula> operands{c.flow};
  KeywordValues keywords;
  for (std::size_t i = 1; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].keywordOnly)
      keywords.emplace_back(args.op->schema.arguments[i].name, args.values[i]);
    else
      operands.push_back(args.values[i]);
  return {args.op->id, std::move(operands), std::move(keywords)};
}

/// Piecewise linear activations: nothing flows to what the pieces are told by.
Formula piecewise(const SlopeCall& c) { return c.argument == 0 ? again(c) : Formula(); }

/// As a tensor of the gradient's dtype.
Formula indicator(const Formula& condition, const SlopeCall& c) { return where(condition, c.flow, 0); }

/// elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result)
Formula elu(const SlopeCall& c) {
  if (c.argument == 0) return again(c);
  const BoundArguments& args = c.call.args;
  const Formula flow = times(indicator(c.x(5) < 0, c) * c.x(0), c.x(3));
  if (args.boolean(4)) return flow;
  return {"aten.elu_backward.default"_op, {flow, c.x(1), c.x(2), c.x(3), c.x(4), c.x(5)}};
}
Formula hardswish(const SlopeCall& c) {
  if (c.argument == 0) return again(c);
  const Formula inside("aten.logical_and.default"_op, {c.x(1) > -3.0, c.x(1) < 3.0});
  return over(indicator(inside, c) * c.x(0), 3.0);
}
/// Second derivative of softplus: beta · σ'(beta · x), below the threshold.
Formula softplus(const SlopeCall& c) {
  if (c.argument == 0) return again(c);
  const Formula scaled = times(c.x(1), c.x(2));
  const Formula bend("aten.sigmoid_backward.default"_op, {c.flow * c.x(0), sigmoid(scaled)});
  return times(where(scaled < c.x(3), bend, 0), c.x(2));
}
/// log_sigmoid_backward(grad_output, self, buffer)
Formula logSigmoid(const SlopeCall& c) {
  if (c.argument == 0) return again(c);
  if (c.argument == 2) return {};
  const Formula open = sigmoid(c.x(1));
  return c.flow * c.x(0) * plus(open, -1) * open;
}

/// φ(x), the density of the normal distribution.
Formula density(const Formula& x) { return times(exp(times(square(x), -0.5)), M_2_SQRTPI * M_SQRT1_2 / 2); }

Formula geluTanh(const Formula& x) {
  constexpr double cubic = 0.044715;
  const double root = M_SQRT2 * M_2_SQRTPI / 2;
  const Formula bent = tanh(times(x + times(pow(x, 3), cubic), root));
  const Formula steep = times(plus(times(square(x), 3 * cubic), 1), root);  // the slope of what tanh is of
  const Formula rise = minusFrom(1, square(bent));
  const Formula curve = times(x, 6 * cubic * root) - times(bent * square(steep), 2);
  return rise * (steep + times(x * curve, 0.5));
}
Formula gelu(const SlopeCall& c) {
  if (c.argument == 0) return again(c);
  const Formula x = c.x(1);
  const bool exact = c.call.args.text(2) == "none";
  return c.flow * c.x(0) * (exact ? density(x) * minusFrom(2, square(x)) : geluTanh(x));
}

// Of tanh and sigmoid, by their output; these take complex numbers: the slope is conjugated twice

/// (grad_output, output): output's part of the gradient without the flow.
using OutputSlope = Formula (*)(const Formula& grad, const Formula& output);
Formula tanhSlope(const Formula& grad, const Formula& output) { return times(output * grad, -2); }
Formula sigmoidSlope(const Formula& grad, const Formula& output) { return grad * plus(times(output, -2), 1); }

Formula conjugate(const Formula& a, bool complex) { return complex ? Formula("aten._conj.default"_op, {a}) : a; }

template <OutputSlope rule>
void byOutput(Backward& b) {
  const bool complex = isComplex(b.result().dtype());
  const Formula output = conjugate(b[1], complex), again(b.args.op->id, {b.grad(), output});
  if (b.wants(0)) b.give(0, again);
  if (b.wants(1)) b.give(1, conjugate(b.grad(), complex) * rule(b[0], output));
}
template <OutputSlope rule>
std::vector<Formula> byOutputTangent(Forward& f) {
  const bool complex = isComplex(f.result().dtype());
  const Formula output = conjugate(f[1], complex);
  const Formula first(f.args.op->id, {f.orZeros(0), f[1]});
  return {f.has(1) ? first + conjugate(f.tangent(1), complex) * rule(f[0], output) : first};
}

/// _prelu_kernel_backward(grad_output, self, weight) gives the gradients of self and weight.
void prelu(Backward& b) {
  const Formula grad = b[0], self = b[1], weight = b[2];
  const Formula positive = self >= 0, first = b.orZeros(0), second = b.orZeros(1);
  b.give(0, where(positive, first, first * weight + second * self));
  b.give(1, where(positive, 0, grad * second));
  b.give(2, where(positive, 0, grad * first));
}
std::vector<Formula> preluTangent(Forward& f) {
  const Formula grad = f[0], self = f[1], weight = f[2];
  const Formula gradTangent = f.orZeros(0), positive = self >= 0;
  return {where(positive, gradTangent, gradTangent * weight + grad * f.orZeros(2)),
          where(positive, 0, gradTangent * self + grad * f.orZeros(1))};
}

constexpr OpFacts activationBackwardDerivativesTable[] = {
    slope<piecewise>("aten::threshold_backward"),
    slope<piecewise>("aten::leaky_relu_backward"),
    slope<piecewise>("aten::hardtanh_backward"),
    slope<piecewise>("aten::hardsigmoid_backward"),
    slope<piecewise>("aten::hardshrink_backward"),
    slope<piecewise>("aten::softshrink_backward"),
    slope<piecewise>("aten::rrelu_with_noise_backward"),
    slope<elu>("aten::elu_backward"),
    slope<hardswish>("aten::hardswish_backward"),
    slope<softplus>("aten::softplus_backward"),
    slope<logSigmoid>("aten::log_sigmoid_backward"),
    slope<gelu>("aten::gelu_backward"),
    differentiable<byOutput<tanhSlope>, byOutputTangent<tanhSlope>>("aten::tanh_backward"),
    differentiable<byOutput<sigmoidSlope>, byOutputTangent<sigmoidSlope>>("aten::sigmoid_backward"),
    differentiable<prelu, preluTangent>("aten::_prelu_kernel_backward"),
};

const OpRegistration activationBackwardDerivatives({.facts = activationBackwardDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
