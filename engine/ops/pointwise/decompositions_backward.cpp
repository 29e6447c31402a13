// Decompositions of the backward ops of activations.
#include <cmath>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// The conjugate of a complex tensor, else the tensor.
Formula conjugate(Formulas& p, const Formula& x) {
  const Formula value = p(x);
  return isComplex(value.dtype()) ? Formula("aten.conj_physical.default"_op, {value}) : value;
}

/// elu_backward(grad, alpha, scale, input_scale, is_result, self_or_result)
Result<Value> eluBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double low = args.number(1) * args.number(2), inner = args.number(3);
  const Formula high = p[0] * p[2];
  if (args.boolean(4)) return p.done(where(p[5] <= 0, p[0] * inner * (p[5] + low), high));
  return p.done(where(p[5] <= 0, p[0] * inner * low * exp(p[5] * inner), high));
}
Result<Value> geluBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula& x = p[1];
  if (args.text(2) != "tanh") {
    const Formula share = p((erf(x * M_SQRT1_2) + 1) * 0.5);
    const Formula density = p(exp(x * x * -0.5) * (M_2_SQRTPI * M_SQRT1_2 * 0.5));
    return p.done(p[0] * (share + x * density));
  }
  const double beta = M_SQRT2 * M_2_SQRTPI * 0.5, kappa = 0.044715;
  const Formula square = p(x * x);
  const Formula cube = p(square * x);
  const Formula bent = p(tanh((x + cube * kappa) * beta));
  const Formula left = p(x * 0.5), right = p(bent + 1);
  const Formula leftSlope = p(right * 0.5);
  const Formula bentSlope = p(1 - bent * bent);
  const Formula innerSlope = p((square * (3 * kappa) + 1) * beta);
  return p.done(p[0] * (leftSlope + left * bentSlope * innerSlope));
}
/// glu_backward(grad, self, dim)
Result<Value> gluBackward(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(1);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  const SymInt half = floorDiv(self.symSize(dim), 2);
  Formulas p(args, run);
  const Formula first = p(slice(p[1], dim, 0, half)), second = p(slice(p[1], dim, half, 2 * half));
  const Formula gate = p(sigmoid(second));
  const Formula ofSecond = p((1.0 - gate) * gate * first * p[0]);
  return p.done(cat({p(gate * p[0]), ofSecond}, dim));
}
Result<Value> hardsigmoidBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where((p[1] > -3.0) & (p[1] < 3.0), p[0] * (1.0 / 6.0), 0.0));
}
Result<Value> hardswishBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(p[1] <= -3, 0.0, where(p[1] < 3, p[0] * (p[1] / 3 + 0.5), p[0])));
}
Result<Value> hardtanhBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where((p[1] <= p[2]) | (p[1] >= p[3]), 0.0, p[0]));
}
Result<Value> leakyReluBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(p[1] > 0, p[0], p[0] * p[2]));
}
Result<Value> logSigmoidBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula negative = p(p[1] < 0);
  const Formula most = p(where(negative, 1, 0)), direction = p(where(negative, 1, -1));
  const Formula decay = p(exp(-abs(p[1])));
  return p.done(p[0] * (most - direction * (decay / (decay + 1))));
}
/// logit_backward(grad, self, eps): 0 outside of the bounds, without eps NaN outside of [0, 1].
Result<Value> logitBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double low = args.numberIf(2).value_or(0);
  const Formula inside = p({"aten.logical_and.default"_op, {p[1] >= low, p[1] <= 1 - low}});
  const Formula slope = p(p[0] / (p[1] * (1.0 - p[1])));
  if (!args.none(2)) return p.done(where(inside, slope, 0.0));
  return p.done(where(inside, slope, newFull(p[1], {}, std::nan(""))));
}
Result<Value> mishBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula bent = p(tanh({"aten.softplus.default"_op, {p[1]}}));
  const Formula gate = p(sigmoid(p[1]));
  const Formula slope = p(p[1] * gate * (1 - bent * bent));
  return p.done(p[0] * (bent + slope));
}
Result<Value> preluKernelBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula ofInput = p(where(p[1] > 0, p[0], p[2] * p[0]));
  return p.done(std::vector<Formula>{ofInput, where(p[1] > 0, 0.0, p[1] * p[0])});
}
/// rrelu_with_noise_backward(grad, self, noise, lower, upper, training, self_is_result)
Result<Value> rreluBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double lower = args.number(3), upper = args.number(4);
  if (args.boolean(5) && upper - lower > 1e-6) return p.done(p[0] * p[2]);
  return p.done({"aten.leaky_relu_backward.default"_op, {p[0], p[1], (lower + upper) / 2, p[6]}});
}
Result<Value> sigmoidBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula slope = conjugate(p, p[1] * (1 - p[1]));
  return p.done(p[0] * slope);
}
Result<Value> siluBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula gate = p(1 / (exp(-p[1]) + 1));
  return p.done(p[0] * gate * (p[1] * (1 - gate) + 1));
}
Result<Value> softplusBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula power = p(exp(p[1] * p[2]));
  return p.done(where(p[1] * p[2] > p[3], p[0], p[0] * power / (power + 1.0)));
}
/// grad where |self| is above lambd, which is also the slope of hardshrink.
Result<Value> shrinkBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double bound = args.number(2);
  return p.done(where((p[1] >= -bound) & (p[1] <= bound), 0.0, p[0]));
}
Result<Value> tanhBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula slope = conjugate(p, 1 - p[1] * p[1]);
  return p.done(p[0] * slope);
}
/// 0 where self is at most the threshold.
Result<Value> thresholdBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(p[1] <= p[2], 0, p[0]));
}

constexpr OpFacts activationBackwardDecompositionsTable[] = {
    decomposes("aten::elu_backward", inOpMath<eluBackward>),
    decomposes("aten::gelu_backward", inOpMath<geluBackward>),
    decomposes("aten::glu_backward", inOpMath<gluBackward>),
    decomposes("aten::hardshrink_backward", shrinkBackward),
    decomposes("aten::hardsigmoid_backward", inOpMath<hardsigmoidBackward>),
    decomposes("aten::hardswish_backward", inOpMath<hardswishBackward>),
    decomposes("aten::hardtanh_backward", hardtanhBackward),
    decomposes("aten::leaky_relu_backward", inOpMath<leakyReluBackward>),
    decomposes("aten::log_sigmoid_backward", inOpMath<logSigmoidBackward>),
    decomposes("aten::logit_backward", inOpMath<logitBackward>),
    decomposes("aten::mish_backward", inOpMath<mishBackward>),
    decomposes("aten::_prelu_kernel_backward", preluKernelBackward),
    decomposes("aten::rrelu_with_noise_backward", inOpMath<rreluBackward>),
    decomposes("aten::sigmoid_backward", inOpMath<sigmoidBackward>),
    decomposes("aten::silu_backward", inOpMath<siluBackward>),
    decomposes("aten::softplus_backward", inOpMath<softplusBackward>),
    decomposes("aten::softshrink_backward", shrinkBackward),
    decomposes("aten::tanh_backward", inOpMath<tanhBackward>),
    decomposes("aten::threshold_backward", thresholdBackward),
};

const OpRegistration activationBackwardDecompositions({.facts = activationBackwardDecompositionsTable});

}  // namespace

}  // namespace kerf::inline ops
