// relu and what else is linear in pieces: relu6, leaky_relu, prelu, threshold, hardtanh, the shrinks; and backward ops.
#include <cmath>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
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

KERF_ELEMENT1(Relu, maximum(x, T(0)));
KERF_ELEMENT1(Relu6, minimum(maximum(x, T(0)), T(6)));
KERF_ELEMENT2(LeakyRelu, x > 0 ? x : x * y);
KERF_ELEMENT2(Prelu, x > 0 ? x : x * y);
KERF_ELEMENT2(SoftShrink, std::isnan(x) ? x : x > y ? x - y : x < -y ? x + y : T(0));
KERF_ELEMENT2(HardShrink, x >= -y && x <= y ? T(0) : x);
KERF_ELEMENT3(ThresholdBackward, y <= z ? T(0) : x);
KERF_ELEMENT3(LeakyReluBackward, y > 0 ? x : x * z);
KERF_ELEMENT3(ShrinkBackward, y >= -z && y <= z ? T(0) : x);
KERF_ELEMENT4(HardTanhBackward, y <= z || y >= w ? T(0) : x);
KERF_ELEMENT3(Clamp, minimum(maximum(x, y), z));
KERF_ELEMENT3(Threshold, x <= y ? z : x);

template <class F>
constexpr PointwiseSpec real = floatSpec<F>(Promotion::Same, NumberRounding::Exact);
template <class F>
constexpr PointwiseSpec rounded = floatSpec<F>(Promotion::Same);
constexpr PointwiseSpec hardtanhSpec = withUnsigned<Clamp>(numberSpec<Clamp>());
constexpr PointwiseSpec thresholdSpec = withUnsigned<Threshold>(numberSpec<Threshold>());

Result<Value> preluBackwardShape(const BoundArguments& args) {
  KERF_TRY(const SymSizes sizes, broadcastSizes(args.tensor(1).symSizes(), args.tensor(2).symSizes()));
  const Tensor operands[] = {args.tensor(1), args.tensor(2), args.tensor(0)};
  const Value one = metaTensor(args.tensor(1).dtype(), sizes, elementwiseStrides(operands, sizes));
  return Value(ValueList{one, one});
}
Result<Value> preluBackwardKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(Doubles grad, doublesOf(args.tensor(0), outs[0].sizes()));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1), outs[0].sizes()));
  KERF_TRY(const Doubles weight, doublesOf(args.tensor(2), outs[0].sizes()));
  Doubles weightGrad(grad.size());
  for (std::size_t i = 0; i < grad.size(); ++i) {
    weightGrad[i] = x[i] > 0 ? 0 : x[i] * grad[i];
    grad[i] = x[i] > 0 ? grad[i] : weight[i] * grad[i];
  }
  KERF_CHECK(writeValues(grad, outs[0]));
  KERF_CHECK(writeValues(weightGrad, outs[1]));
  return tensorList(outs);
}

// Lowerings

int reluElement(Call c) { return c.b.binary(Maximum, c.x(0), c.number(0)); }
int relu6Element(Call c) { return clamped(c, c.x(0), 0, 6); }
int leakyReluElement(Call c) { return c.b.select(c.b.binary(Gt, c.x(0), c.number(0)), c.x(0), mul(c, c.x(0), c.x(1))); }
int thresholdBackwardElement(Call c) { return c.b.select(c.b.binary(Le, c.x(1), c.x(2)), c.number(0), c.x(0)); }
int leakyReluBackwardElement(Call c) {
  return c.b.select(c.b.binary(Gt, c.x(1), c.number(0)), c.x(0), mul(c, c.x(0), c.x(2)));
}
int hardtanhBackwardElement(Call c) {
  const int outside = c.b.binary(Or, c.b.binary(Le, c.x(1), c.x(2)), c.b.binary(Ge, c.x(1), c.x(3)));
  return c.b.select(outside, c.number(0), c.x(0));
}

// Derivatives

Formula reluSlope(const SlopeCall& c) { return {"aten.threshold_backward.default"_op, {c.flow, c.y(), 0}}; }
Formula relu6Slope(const SlopeCall& c) { return {"aten.hardtanh_backward.default"_op, {c.flow, c.x(), 0, 6}}; }
Formula thresholdSlope(const SlopeCall& c) { return {"aten.threshold_backward.default"_op, {c.flow, c.x(), c.x(1)}}; }
Formula leakyReluSlope(const SlopeCall& c) {
  return {"aten.leaky_relu_backward.default"_op, {c.flow, c.x(), c.x(1), false}};
}
Formula hardtanhSlope(const SlopeCall& c) {
  return {"aten.hardtanh_backward.default"_op, {c.flow, c.x(), c.x(1), c.x(2)}};
}
Formula hardshrinkSlope(const SlopeCall& c) { return {"aten.hardshrink_backward.default"_op, {c.flow, c.x(), c.x(1)}}; }
Formula softshrinkSlope(const SlopeCall& c) { return {"aten.softshrink_backward.default"_op, {c.flow, c.x(), c.x(1)}}; }
/// _prelu_kernel(self, weight)
void preluGradient(Backward& b) {
  const auto [self, weight] = b.several<2>({"aten._prelu_kernel_backward.default"_op, {b.grad(), b[0], b[1]}});
  b.give(0, self);
  b.give(1, weight);
}
std::vector<Formula> preluTangent(Forward& f) {
  const Formula scaled = f.orZeros(0) * f[1] + f[0] * f.orZeros(1);
  return {where(f[0] >= 0, f.orZeros(0), scaled)};
}
/// _prelu_kernel_backward(grad_output, self, weight) gives the gradients of self and weight.
void preluBackwardGradient(Backward& b) {
  const Formula grad = b[0], self = b[1], weight = b[2];
  const Formula positive = self >= 0, first = b.orZeros(0), second = b.orZeros(1);
  b.give(0, where(positive, first, first * weight + second * self));
  b.give(1, where(positive, 0, grad * second));
  b.give(2, where(positive, 0, grad * first));
}
std::vector<Formula> preluBackwardTangent(Forward& f) {
  const Formula grad = f[0], self = f[1], weight = f[2];
  const Formula gradTangent = f.orZeros(0), positive = self >= 0;
  return {where(positive, gradTangent, gradTangent * weight + grad * f.orZeros(2)),
          where(positive, 0, gradTangent * self + grad * f.orZeros(1))};
}

// Decompositions

Result<Value> hardtanhProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  if (!isIntegral(args.tensor(0).dtype())) return p.done(clamp(p[0], args.values[1], args.values[2]));
  return p.done(clamp(p[0], std::int64_t(args.number(1)), std::int64_t(args.number(2))));
}
Result<Value> relu6Program(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done({"aten.hardtanh.default"_op, {p[0], 0, 6}});
}
Result<Value> leakyReluProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(p[0] > 0, p[0], p[0] * p[1]));
}
Result<Value> preluKernelProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(p[0] > 0, p[0], p[1] * p[0]));
}
Result<Value> thresholdProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(p[0] <= p[1], p[2], p[0]));
}
Result<Value> hardshrinkProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(abs(p[0]) <= p[1], 0, p[0]));
}
Result<Value> softshrinkProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(abs(p[0]) > p[1], p[0] - sign(p[0]) * p[1], p[0] * 0));
}
Result<Value> hardtanhBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where((p[1] <= p[2]) | (p[1] >= p[3]), 0.0, p[0]));
}
Result<Value> leakyReluBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(p[1] > 0, p[0], p[0] * p[2]));
}
Result<Value> preluKernelBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula ofInput = p(where(p[1] > 0, p[0], p[2] * p[0]));
  return p.done(std::vector<Formula>{ofInput, where(p[1] > 0, 0.0, p[1] * p[0])});
}
/// grad where |self| is above lambd, which is also the slope of hardshrink.
Result<Value> hardshrinkBackwardOrSoftshrinkBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double bound = args.number(2);
  return p.done(where((p[1] >= -bound) & (p[1] <= bound), 0.0, p[0]));
}
/// 0 where self is at most the threshold.
Result<Value> thresholdBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(where(p[1] <= p[2], 0, p[0]));
}

constexpr OpRow reluRows[] = {
    pointwiseRow("aten::relu(Tensor self) -> Tensor", ordered<Relu>)
        .lowering(Numbers, reluElement, 2)
        .derivative(slope<reluSlope>),
    pointwiseRow("aten::relu6(Tensor self) -> Tensor", ordered<Relu6>)
        .lowering(Numbers, relu6Element, 4)
        .derivative(slope<relu6Slope>)
        .decomposition(relu6Program),
    pointwiseRow("aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", real<LeakyRelu>)
        .lowering(Floats, leakyReluElement, 3)
        .derivative(slope<leakyReluSlope>)
        .decomposition(inOpMath<leakyReluProgram>),
    pointwiseRow("aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor", rounded<Prelu>)
        .derivative(differentiable<preluGradient, preluTangent>)
        .decomposition(preluKernelProgram),
    pointwiseRow("aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", thresholdSpec)
        .derivative(slope<thresholdSlope>)
        .decomposition(thresholdProgram),
    pointwiseRow("aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", hardtanhSpec)
        .derivative(slope<hardtanhSlope>)
        .decomposition(hardtanhProgram),
    pointwiseRow("aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", rounded<HardShrink>)
        .derivative(slope<hardshrinkSlope>)
        .decomposition(hardshrinkProgram),
    pointwiseRow("aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", rounded<SoftShrink>)
        .derivative(slope<softshrinkSlope>)
        .decomposition(inOpMath<softshrinkProgram>),
    pointwiseRow("aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
                 ordered<ThresholdBackward>)
        .lowering(Numbers, thresholdBackwardElement, 2)
        .derivative(slope<piecewise>)
        .decomposition(thresholdBackwardProgram),
    pointwiseRow("aten::leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, "
                 "bool self_is_result) -> Tensor",
                 real<LeakyReluBackward>)
        .lowering(Floats, leakyReluBackwardElement, 3)
        .derivative(slope<piecewise>)
        .decomposition(inOpMath<leakyReluBackwardProgram>),
    OpRow{"aten::_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
          OpTrait::Pointwise, preluBackwardShape, preluBackwardKernel}
        .derivative(differentiable<preluBackwardGradient, preluBackwardTangent>)
        .decomposition(preluKernelBackwardProgram),
    pointwiseRow("aten::hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
                 rounded<HardTanhBackward>)
        .lowering(Numbers, hardtanhBackwardElement, 3)
        .derivative(slope<piecewise>)
        .decomposition(hardtanhBackwardProgram),
    pointwiseRow("aten::hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
                 rounded<ShrinkBackward>)
        .derivative(slope<piecewise>)
        .decomposition(hardshrinkBackwardOrSoftshrinkBackward),
    pointwiseRow("aten::softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
                 rounded<ShrinkBackward>)
        .derivative(slope<piecewise>)
        .decomposition(hardshrinkBackwardOrSoftshrinkBackward),
};

const OpRegistration reluOps({.rows = reluRows});

}  // namespace

}  // namespace kerf::inline ops
