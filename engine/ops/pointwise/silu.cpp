// sigmoid, silu, mish, hardsigmoid and hardswish, with the backward ops of these and of tanh.
#include <cmath>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/pointwise/backward_slopes.h"
#include "engine/ops/pointwise/element_lowering.h"
#include "engine/ops/pointwise/vector.h"

namespace kerf::inline ops {
namespace {

using namespace element;
using namespace lowered;
using enum ExprOp;
using enum OperandTypes;

// Kernels

template <class T>
T clampTo(T x, T low, T high) {
  return minimum(maximum(x, low), high);
}
template <class T>
T siluBackward(T grad, T x, T sigmoid) {
  return grad * sigmoid * (T(1) + x * (T(1) - sigmoid));
}
template <class T>
T mishBackward(T grad, T x) {
  const T s = sigmoid(x);
  const T t = std::tanh(std::log1p(std::exp(x)));
  return grad * (t + x * s * (T(1) - t * t));
}
KERF_ELEMENT1(Negated, -x);
KERF_ELEMENT2(OneOverOnePlus, T(1) / (T(1) + y));
KERF_ELEMENT2(SiluFromExp, x / (T(1) + y));
KERF_ELEMENT1(Mish, x* std::tanh(std::log1p(std::exp(x))));
KERF_ELEMENT1(HardSwish, x* clampTo(x + T(3), T(0), T(6)) / T(6));
KERF_ELEMENT1(HardSigmoid, clampTo(x + T(3), T(0), T(6)) / T(6));
KERF_ELEMENT2(TanhBackward, x*(T(1) - y * y));
KERF_ELEMENT2(SigmoidBackward, x*(T(1) - y) * y);
KERF_ELEMENT2(NegatedSecond, -y);
KERF_ELEMENT3(SiluBackwardFromExp, siluBackward(x, y, T(1) / (T(1) + z)));
KERF_ELEMENT2(MishBackward, mishBackward(x, y));
KERF_ELEMENT2(HardSwishBackward, y <= T(-3) ? T(0) : y < T(3) ? x * (y / T(3) + T(0.5)) : x);
KERF_ELEMENT2(HardSigmoidBackward, y > T(-3) && y < T(3) ? x / T(6) : T(0));

using Silu = Around<Negated, VectorFunction::Exp, SiluFromExp>;
using SiluBackward = Around<NegatedSecond, VectorFunction::Exp, SiluBackwardFromExp>;

template <class F>
constexpr PointwiseSpec real = floatSpec<F>(Promotion::Same, NumberRounding::Exact);
template <class P>
constexpr PointwiseSpec program = programSpec<P>(Promotion::Same, NumberRounding::Exact);
constexpr PointwiseSpec sigmoidSpec = programSpec<Around<Negated, VectorFunction::Exp, OneOverOnePlus>>();

// Lowerings

int sigmoidElement(Call c) { return sigmoidOf(c, c.x(0)); }
int siluElement(Call c) { return div(c, c.x(0), add(c, c.number(1), expOf(c, c.b.unary(Neg, c.x(0))))); }
int hardswishElement(Call c) {
  return div(c, mul(c, c.x(0), clamped(c, add(c, c.x(0), c.number(3)), 0, 6)), c.number(6));
}
int hardsigmoidElement(Call c) { return div(c, clamped(c, add(c, c.x(0), c.number(3)), 0, 6), c.number(6)); }
int tanhBackwardElement(Call c) { return mul(c, c.x(0), sub(c, c.number(1), mul(c, c.x(1), c.x(1)))); }
int sigmoidBackwardElement(Call c) { return mul(c, mul(c, c.x(0), sub(c, c.number(1), c.x(1))), c.x(1)); }
int siluBackwardElement(Call c) {
  const int s = sigmoidOf(c, c.x(1));
  const int slope = add(c, c.number(1), mul(c, c.x(1), sub(c, c.number(1), s)));
  return mul(c, mul(c, c.x(0), s), slope);
}
int hardswishBackwardElement(Call c) {
  const int middle = mul(c, c.x(0), add(c, div(c, c.x(1), c.number(3)), c.number(0.5)));
  const int upper = c.b.select(c.b.binary(Lt, c.x(1), c.number(3)), middle, c.x(0));
  return c.b.select(c.b.binary(Le, c.x(1), c.number(-3)), c.number(0), upper);
}
int hardsigmoidBackwardElement(Call c) {
  const int inside = c.b.binary(And, c.b.binary(Gt, c.x(1), c.number(-3)), c.b.binary(Lt, c.x(1), c.number(3)));
  return c.b.select(inside, div(c, c.x(0), c.number(6)), c.number(0));
}

// Derivatives

Formula sigmoidSlope(const SlopeCall& c) { return {"aten.sigmoid_backward.default"_op, {c.flow, c.y()}}; }
/// Of complex numbers it is written out.
Formula siluSlope(const SlopeCall& c) {
  if (!isComplex(c.x().dtype())) return {"aten.silu_backward.default"_op, {c.flow, c.x()}};
  const Formula open = sigmoid(c.x());
  return c.flow * c.conj(open * plus(c.x() * minusFrom(1, open), 1));
}
Formula mishSlope(const SlopeCall& c) { return {"aten.mish_backward.default"_op, {c.flow, c.x()}}; }
Formula hardswishSlope(const SlopeCall& c) { return {"aten.hardswish_backward.default"_op, {c.flow, c.x()}}; }
Formula hardsigmoidSlope(const SlopeCall& c) { return {"aten.hardsigmoid_backward.default"_op, {c.flow, c.x()}}; }
Formula hardswishBackwardSlope(const SlopeCall& c) {
  if (c.argument == 0) return again(c);
  const Formula inside("aten.logical_and.default"_op, {c.x(1) > -3.0, c.x(1) < 3.0});
  return over(indicator(inside, c) * c.x(0), 3.0);
}

// The backward ops of tanh and sigmoid take complex numbers: the slope is conjugated twice

/// (grad_output, output): output's part of the gradient without the flow.
using OutputSlope = Formula (*)(const Formula& grad, const Formula& output);
Formula tanhOutputSlope(const Formula& grad, const Formula& output) { return times(output * grad, -2); }
Formula sigmoidOutputSlope(const Formula& grad, const Formula& output) { return grad * plus(times(output, -2), 1); }
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

// Decompositions

Formula hardGate(const Formula& x) { return clamp(clamp(x + 3, std::int64_t{0}), {}, std::int64_t{6}); }
Result<Value> hardsigmoidProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(hardGate(p[0]) / 6);
}
Result<Value> hardswishProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] * hardGate(p[0]) / 6);
}
Result<Value> mishProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] * tanh({"aten.softplus.default"_op, {p[0]}}));
}
Result<Value> siluProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] * sigmoid(p[0]));
}
/// x / (1 + exp(-x)): as the kernel rounds.
Result<Value> siluByExponential(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(p[0] / (exp(-p[0]) + 1));
}
/// The conjugate of a complex tensor, else the tensor.
Formula conjugate(Formulas& p, const Formula& x) {
  const Formula value = p(x);
  return isComplex(value.dtype()) ? Formula("aten.conj_physical.default"_op, {value}) : value;
}
Result<Value> hardsigmoidBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where((p[1] > -3.0) & (p[1] < 3.0), p[0] * (1.0 / 6.0), 0.0));
}
Result<Value> hardswishBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(p[1] <= -3, 0.0, where(p[1] < 3, p[0] * (p[1] / 3 + 0.5), p[0])));
}
Result<Value> mishBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula bent = p(tanh({"aten.softplus.default"_op, {p[1]}}));
  const Formula gate = p(sigmoid(p[1]));
  const Formula slope = p(p[1] * gate * (1 - bent * bent));
  return p.done(p[0] * (bent + slope));
}
Result<Value> sigmoidBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula slope = conjugate(p, p[1] * (1 - p[1]));
  return p.done(p[0] * slope);
}
Result<Value> siluBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula gate = p(1 / (exp(-p[1]) + 1));
  return p.done(p[0] * gate * (p[1] * (1 - gate) + 1));
}
Result<Value> tanhBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula slope = conjugate(p, 1 - p[1] * p[1]);
  return p.done(p[0] * slope);
}

constexpr OpRow siluRows[] = {
    pointwiseRow("aten::sigmoid(Tensor self) -> Tensor", sigmoidSpec)
        .lowering(Floats, sigmoidElement, 20)
        .derivative(slope<sigmoidSlope>),
    pointwiseRow("aten::silu(Tensor self) -> Tensor", program<Silu>)
        .lowering(Floats, siluElement, 20)
        .derivative(slope<siluSlope>)
        .decomposition(inOpMath<siluProgram>),
    pointwiseRow("aten::mish(Tensor self) -> Tensor", real<Mish>)
        .derivative(slope<mishSlope>)
        .decomposition(inOpMath<mishProgram>),
    pointwiseRow("aten::hardsigmoid(Tensor self) -> Tensor", real<HardSigmoid>)
        .lowering(Floats, hardsigmoidElement, 10)
        .derivative(slope<hardsigmoidSlope>)
        .decomposition(inOpMath<hardsigmoidProgram>),
    pointwiseRow("aten::hardswish(Tensor self) -> Tensor", real<HardSwish>)
        .lowering(Floats, hardswishElement, 10)
        .derivative(slope<hardswishSlope>)
        .decomposition(inOpMath<hardswishProgram>),
    pointwiseRow("aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor", real<TanhBackward>)
        .lowering(Floats, tanhBackwardElement, 3)
        .derivative(differentiable<byOutput<tanhOutputSlope>, byOutputTangent<tanhOutputSlope>>)
        .decomposition(inOpMath<tanhBackwardProgram>),
    pointwiseRow("aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor", real<SigmoidBackward>)
        .lowering(Floats, sigmoidBackwardElement, 3)
        .derivative(differentiable<byOutput<sigmoidOutputSlope>, byOutputTangent<sigmoidOutputSlope>>)
        .decomposition(inOpMath<sigmoidBackwardProgram>),
    pointwiseRow("aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor", program<SiluBackward>)
        .lowering(Floats, siluBackwardElement, 25)
        .decomposition(inOpMath<siluBackwardProgram>),
    pointwiseRow("aten::mish_backward(Tensor grad_output, Tensor self) -> Tensor", real<MishBackward>)
        .decomposition(inOpMath<mishBackwardProgram>),
    pointwiseRow("aten::hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor", real<HardSigmoidBackward>)
        .lowering(Floats, hardsigmoidBackwardElement, 6)
        .derivative(slope<piecewise>)
        .decomposition(inOpMath<hardsigmoidBackwardProgram>),
    pointwiseRow("aten::hardswish_backward(Tensor grad_output, Tensor self) -> Tensor", real<HardSwishBackward>)
        .lowering(Floats, hardswishBackwardElement, 10)
        .derivative(slope<hardswishBackwardSlope>)
        .decomposition(inOpMath<hardswishBackwardProgram>),
};

constexpr TableProgram siluInductor[] = {
    {"aten::silu", inOpMath<siluByExponential>},
};

const OpRegistration siluOps({.rows = siluRows, .programs = siluInductor});

}  // namespace

}  // namespace kerf::inline ops
