// Decompositions of activations: what AOTAutograd's tables write in their place.
#include <cmath>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

// Activations, one by one

Result<Value> celu(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula low = p(Formula("aten.expm1.default"_op, {p[0] / p[1]}) * p[1]);
  return p.done(where(p[0] > 0, p[0], low));
}
/// elu(self, alpha, scale, input_scale)
Result<Value> elu(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double low = args.number(1) * args.number(2);
  return p.done(where(p[0] > 0, p[0] * p[2], Formula("aten.expm1.default"_op, {p[0] * p[3]}) * low));
}
Result<Value> gelu(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  if (args.text(1) != "tanh") return p.done(p[0] * 0.5 * (erf(p[0] * M_SQRT1_2) + 1));
  const Formula cube = p(p[0] * p[0] * p[0]);
  const Formula inner = p((p[0] + cube * 0.044715) * (M_SQRT2 * M_2_SQRTPI * 0.5));
  return p.done(p[0] * 0.5 * (tanh(inner) + 1));
}
Result<Value> glu(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  const SymInt half = floorDiv(self.symSize(dim), 2);
  Formulas p(args, run);
  const Formula first = p(slice(p[0], dim, 0, half)), second = p(slice(p[0], dim, half, 2 * half));
  return p.done(first * sigmoid(second));
}
Result<Value> hardshrink(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(abs(p[0]) <= p[1], 0, p[0]));
}
Formula hardGate(const Formula& x) { return clamp(clamp(x + 3, std::int64_t{0}), {}, std::int64_t{6}); }
Result<Value> hardsigmoid(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(hardGate(p[0]) / 6);
}
Result<Value> hardswish(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] * hardGate(p[0]) / 6);
}
Result<Value> hardtanh(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  if (!isIntegral(args.tensor(0).dtype())) return p.done(clamp(p[0], args.values[1], args.values[2]));
  return p.done(clamp(p[0], std::int64_t(args.number(1)), std::int64_t(args.number(2))));
}
Result<Value> relu6(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done({"aten.hardtanh.default"_op, {p[0], 0, 6}});
}
Result<Value> leakyRelu(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(p[0] > 0, p[0], p[0] * p[1]));
}
/// log_sigmoid_forward(self): the result, and exp(-|self|) for the backward op.
Result<Value> logSigmoidForward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula low = p({"aten.minimum.default"_op, {newZeros(p[0], {}), p[0]}});
  const Formula decay = p(exp(-abs(p[0])));
  return p.done(std::vector<Formula>{low - log1p(decay), decay});
}
Result<Value> logSigmoid(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p.several<2>({"aten.log_sigmoid_forward.default"_op, {p[0]}})[0]);
}
/// logit(self, eps): without eps the bounds only keep NaN what is NaN.
Result<Value> logit(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double low = args.numberIf(1).value_or(-1);
  const Formula x = p(clamp(p[0], low, 1 - low));
  return p.done(log(x / (1 - x)));
}
Result<Value> mish(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] * tanh({"aten.softplus.default"_op, {p[0]}}));
}
Result<Value> preluKernel(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(p[0] > 0, p[0], p[1] * p[0]));
}
/// rrelu_with_noise_functional(self, noise, lower, upper, training): the slopes that were drawn are the second result.
Result<Value> rreluWithNoise(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  if (!args.boolean(4)) {
    const Formula out({"aten.leaky_relu.default"_op, {p[0], (args.number(2) + args.number(3)) / 2}});
    return p.done(std::vector<Formula>{out, p[1]});
  }
  const Formula low = p(p[0] <= 0);
  const Formula drawn = p({"aten.uniform.default"_op, {p[0], p[2], p[3]}, {{"generator", args.values[5]}}});
  const Formula out = p(where(low, p[0] * drawn, p[0]));
  return p.done(std::vector<Formula>{out, where(low, drawn, 1)});
}
Result<Value> silu(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] * sigmoid(p[0]));
}
/// x / (1 + exp(-x)): as the kernel rounds.
Result<Value> siluByExponential(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] / (exp(-p[0]) + 1));
}
Result<Value> softplus(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula scaled = p(p[0] * p[1]);
  const Formula low = p(log1p(exp(scaled)) / p[1]);
  return p.done(where(scaled > p[2], p[0], low));
}
Result<Value> softshrink(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(abs(p[0]) > p[1], p[0] - sign(p[0]) * p[1], p[0] * 0));
}
Result<Value> threshold(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(p[0] <= p[1], p[2], p[0]));
}

constexpr OpFacts pointwiseDecompositionsTable[] = {
    decomposes("aten::celu", inOpMath<celu>),
    decomposes("aten::elu", inOpMath<elu>),
    decomposes("aten::gelu", inOpMath<gelu>),
    decomposes("aten::glu", inOpMath<glu>),
    decomposes("aten::hardshrink", hardshrink),
    decomposes("aten::hardsigmoid", inOpMath<hardsigmoid>),
    decomposes("aten::hardswish", inOpMath<hardswish>),
    decomposes("aten::hardtanh", hardtanh),
    decomposes("aten::relu6", relu6),
    decomposes("aten::leaky_relu", inOpMath<leakyRelu>),
    decomposes("aten::log_sigmoid", logSigmoid),
    decomposes("aten::log_sigmoid_forward", inOpMath<logSigmoidForward>),
    decomposes("aten::logit", inRealMath<logit>),
    decomposes("aten::mish", inOpMath<mish>),
    decomposes("aten::_prelu_kernel", preluKernel),
    decomposes("aten::rrelu_with_noise_functional", rreluWithNoise),
    decomposes("aten::silu", inOpMath<silu>),
    decomposes("aten::softplus", inOpMath<softplus>),
    decomposes("aten::softshrink", inOpMath<softshrink>),
    decomposes("aten::threshold", threshold),
};

constexpr TableProgram inductor[] = {
    {"aten::silu", inOpMath<siluByExponential>},
};

const OpRegistration pointwiseDecompositions({.facts = pointwiseDecompositionsTable, .programs = inductor});

}  // namespace

}  // namespace kerf::inline ops
