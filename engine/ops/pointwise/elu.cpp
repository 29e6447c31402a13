// elu, celu, softplus and log_sigmoid, with their backward ops.
#include <cmath>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/pointwise/backward_slopes.h"
#include "engine/ops/pointwise/element_lowering.h"
#include "engine/ops/pointwise/engine.h"

namespace kerf::inline ops {
namespace {

using namespace element;
using namespace lowered;
using enum ExprOp;
using enum OperandTypes;

// Kernels

template <class T>
T softplus(T x, T beta, T threshold) {
  return x * beta > threshold ? x : std::log1p(std::exp(x * beta)) / beta;
}
template <class T>
T logSigmoid(T x) {
  return std::min(T(0), x) - std::log1p(std::exp(-std::abs(x)));
}
KERF_ELEMENT2(Celu, x > 0 ? x : y * std::expm1(x / y));
KERF_ELEMENT3(Softplus, softplus(x, y, z));
KERF_ELEMENT4(Elu, x > 0 ? x * z : std::expm1(x * w) * y * z);
KERF_ELEMENT4(SoftplusBackward, y* z > w ? x : x * std::exp(y * z) / (std::exp(y * z) + T(1)));
KERF_ELEMENT2(LogSigmoidBackward, x*(T(1) - sigmoid(y)));
KERF_ELEMENT1(LogSigmoid, logSigmoid(x));
struct EluBackward {  // grad, alpha, scale, input scale, self
  static constexpr int arity = 5;
  template <class T>
  static T apply(T grad, T alpha, T scale, T inputScale, T x) {
    return x <= 0 ? grad * inputScale * alpha * scale * std::exp(x * inputScale) : grad * scale;
  }
};
struct EluBackwardFromResult {
  static constexpr int arity = 5;
  template <class T>
  static T apply(T grad, T alpha, T scale, T inputScale, T y) {
    return y <= 0 ? grad * inputScale * (y + alpha * scale) : grad * scale;
  }
};

template <class F>
constexpr PointwiseSpec real = floatSpec<F>(Promotion::Same, NumberRounding::Exact);
constexpr PointwiseSpec eluBackward = [] {
  PointwiseSpec spec = real<EluBackward>;
  spec.select = [](const BoundArguments& args) -> const PointwiseSpec* {
    return args.boolean(args.position("is_result")) ? &real<EluBackwardFromResult> : nullptr;
  };
  return spec;
}();

Result<Value> logSigmoidShape(const BoundArguments& args) {
  const Value one = metaTensor(args.tensor(0).dtype(), args.tensor(0).symSizes());
  return Value(ValueList{one, one});
}
/// The buffer holds exp(-|x|).
Result<Value> logSigmoidKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(Doubles x, doublesOf(args.tensor(0)));
  Doubles buffer;
  for (double& value : x) {
    buffer.push_back(std::exp(-std::abs(value)));
    value = std::min(value, 0.0) - std::log1p(buffer.back());
  }
  KERF_CHECK(writeValues(x, outs[0]));
  KERF_CHECK(writeValues(buffer, outs[1]));
  return tensorList(outs);
}

// Lowerings

int softplusElement(Call c) {
  const int scaled = mul(c, c.x(0), c.x(1));
  const int soft = div(c, c.b.unary(Log1p, expOf(c, scaled)), c.x(1));
  return c.b.select(c.b.binary(Gt, scaled, c.x(2)), c.x(0), soft);
}
int eluElement(Call c) {  // x, alpha, scale, input scale
  const int low = mul(c, mul(c, c.b.unary(Expm1, mul(c, c.x(0), c.x(3))), c.x(1)), c.x(2));
  return c.b.select(c.b.binary(Gt, c.x(0), c.number(0)), mul(c, c.x(0), c.x(2)), low);
}
int logSigmoidElement(Call c) {
  const int smaller = c.b.binary(Minimum, c.number(0), c.x(0));
  return sub(c, smaller, c.b.unary(Log1p, expOf(c, c.b.unary(Neg, c.b.unary(Abs, c.x(0))))));
}

// Derivatives

Formula eluSlope(const SlopeCall& c) {
  return {"aten.elu_backward.default"_op, {c.flow, c.x(1), c.x(2), c.x(3), false, c.x()}};
}
Formula celuSlope(const SlopeCall& c) {
  return {"aten.elu_backward.default"_op, {c.flow, c.x(1), 1, 1.0 / c.call.args.number(1), false, c.x()}};
}
Formula softplusSlope(const SlopeCall& c) {
  return {"aten.softplus_backward.default"_op, {c.flow, c.x(), c.x(1), c.x(2)}};
}
/// The buffer of the CPU's forward op, exp(-|x|).
Formula logSigmoidSlope(const SlopeCall& c) {
  return {"aten.log_sigmoid_backward.default"_op, {c.flow, c.x(), exp(-abs(c.x()))}};
}
/// log_sigmoid_forward gives the buffer too.
void logSigmoidForwardGradient(Backward& b) {
  if (b.has(0)) b.give(0, {"aten.log_sigmoid_backward.default"_op, {b.grad(), b[0], b.result(1)}});
}
std::vector<Formula> logSigmoidForwardTangent(Forward& f) {
  return {{"aten.log_sigmoid_backward.default"_op, {f.tangent(), f[0], f.result(1)}}, {}};
}
/// elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result)
Formula eluBackwardSlope(const SlopeCall& c) {
  if (c.argument == 0) return again(c);
  const BoundArguments& args = c.call.args;
  const Formula flow = times(indicator(c.x(5) < 0, c) * c.x(0), c.x(3));
  if (args.boolean(4)) return flow;
  return {"aten.elu_backward.default"_op, {flow, c.x(1), c.x(2), c.x(3), c.x(4), c.x(5)}};
}
/// Second derivative of softplus: beta · σ'(beta · x), below the threshold.
Formula softplusBackwardSlope(const SlopeCall& c) {
  if (c.argument == 0) return again(c);
  const Formula scaled = times(c.x(1), c.x(2));
  const Formula bend("aten.sigmoid_backward.default"_op, {c.flow * c.x(0), sigmoid(scaled)});
  return times(where(scaled < c.x(3), bend, 0), c.x(2));
}
/// log_sigmoid_backward(grad_output, self, buffer)
Formula logSigmoidBackwardSlope(const SlopeCall& c) {
  if (c.argument == 0) return again(c);
  if (c.argument == 2) return {};
  const Formula open = sigmoid(c.x(1));
  return c.flow * c.x(0) * plus(open, -1) * open;
}

// Decompositions

Result<Value> celuProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula low = p(Formula("aten.expm1.default"_op, {p[0] / p[1]}) * p[1]);
  return p.done(where(p[0] > 0, p[0], low));
}
/// elu(self, alpha, scale, input_scale)
Result<Value> eluProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double low = args.number(1) * args.number(2);
  return p.done(where(p[0] > 0, p[0] * p[2], Formula("aten.expm1.default"_op, {p[0] * p[3]}) * low));
}
Result<Value> softplusProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula scaled = p(p[0] * p[1]);
  const Formula low = p(log1p(exp(scaled)) / p[1]);
  return p.done(where(scaled > p[2], p[0], low));
}
/// log_sigmoid_forward(self): the result, and exp(-|self|) for the backward op.
Result<Value> logSigmoidForwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula low = p({"aten.minimum.default"_op, {newZeros(p[0], {}), p[0]}});
  const Formula decay = p(exp(-abs(p[0])));
  return p.done(std::vector<Formula>{low - log1p(decay), decay});
}
Result<Value> logSigmoidProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p.several<2>({"aten.log_sigmoid_forward.default"_op, {p[0]}})[0]);
}
/// elu_backward(grad, alpha, scale, input_scale, is_result, self_or_result)
Result<Value> eluBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double low = args.number(1) * args.number(2), inner = args.number(3);
  const Formula high = p[0] * p[2];
  if (args.boolean(4)) return p.done(where(p[5] <= 0, p[0] * inner * (p[5] + low), high));
  return p.done(where(p[5] <= 0, p[0] * inner * low * exp(p[5] * inner), high));
}
Result<Value> logSigmoidBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula negative = p(p[1] < 0);
  const Formula most = p(where(negative, 1, 0)), direction = p(where(negative, 1, -1));
  const Formula decay = p(exp(-abs(p[1])));
  return p.done(p[0] * (most - direction * (decay / (decay + 1))));
}
Result<Value> softplusBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula power = p(exp(p[1] * p[2]));
  return p.done(where(p[1] * p[2] > p[3], p[0], p[0] * power / (power + 1.0)));
}

constexpr OpRow eluRows[] = {
    pointwiseRow("aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", real<Elu>)
        .lowering(Floats, eluElement, 25)
        .derivative(slope<eluSlope>)
        .decomposition(inOpMath<eluProgram>),
    pointwiseRow("aten::celu(Tensor self, Scalar alpha=1.) -> Tensor", real<Celu>)
        .derivative(slope<celuSlope>)
        .decomposition(inOpMath<celuProgram>),
    pointwiseRow("aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", real<Softplus>)
        .lowering(Floats, softplusElement, 40)
        .derivative(slope<softplusSlope>)
        .decomposition(inOpMath<softplusProgram>),
    pointwiseRow("aten::log_sigmoid(Tensor self) -> Tensor", real<LogSigmoid>)
        .lowering(Floats, logSigmoidElement, 40)
        .derivative(slope<logSigmoidSlope>)
        .decomposition(logSigmoidProgram),
    OpRow{"aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)", OpTrait::Pointwise,
          logSigmoidShape, logSigmoidKernel}
        .derivative(differentiable<logSigmoidForwardGradient, logSigmoidForwardTangent>)
        .decomposition(inOpMath<logSigmoidForwardProgram>),
    pointwiseRow("aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, "
                 "bool is_result, Tensor self_or_result) -> Tensor",
                 eluBackward)
        .derivative(slope<eluBackwardSlope>)
        .decomposition(inOpMath<eluBackwardProgram>),
    pointwiseRow("aten::softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
                 real<SoftplusBackward>)
        .derivative(slope<softplusBackwardSlope>)
        .decomposition(inOpMath<softplusBackwardProgram>),
    pointwiseRow("aten::log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
                 real<LogSigmoidBackward>)
        .derivative(slope<logSigmoidBackwardSlope>)
        .decomposition(inOpMath<logSigmoidBackwardProgram>),
};

const OpRegistration eluOps({.rows = eluRows});

}  // namespace

}  // namespace kerf::inline ops
