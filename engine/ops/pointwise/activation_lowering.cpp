// Activation functions and their element-wise backwards, by the formulas of ATen's CPU kernels.
#include <cmath>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using Call = const PointwiseCall&;
using enum ExprOp;
using enum OperandTypes;

int add(Call c, int a, int b) { return c.b.binary(Add, a, b); }
int sub(Call c, int a, int b) { return c.b.binary(Sub, a, b); }
int mul(Call c, int a, int b) { return c.b.binary(Mul, a, b); }
int div(Call c, int a, int b) { return c.b.binary(Div, a, b); }
int expOf(Call c, int a) { return c.b.unary(Exp, a); }

int sigmoidOf(Call c, int x) {
  const int one = c.number(1);
  return div(c, one, add(c, one, expOf(c, c.b.unary(Neg, x))));
}
int clampTo(Call c, int x, double low, double high) {
  return c.b.binary(Minimum, c.b.binary(Maximum, x, c.number(low)), c.number(high));
}
bool usesTanh(Call c) { return c.bound.text(c.bound.position("approximate")) == "tanh"; }

int sigmoid(Call c) { return sigmoidOf(c, c.x(0)); }
int relu(Call c) { return c.b.binary(Maximum, c.x(0), c.number(0)); }
int relu6(Call c) { return clampTo(c, c.x(0), 0, 6); }
int silu(Call c) { return div(c, c.x(0), add(c, c.number(1), expOf(c, c.b.unary(Neg, c.x(0))))); }
int hardswish(Call c) { return div(c, mul(c, c.x(0), clampTo(c, add(c, c.x(0), c.number(3)), 0, 6)), c.number(6)); }
int hardsigmoid(Call c) { return div(c, clampTo(c, add(c, c.x(0), c.number(3)), 0, 6), c.number(6)); }
int leakyRelu(Call c) { return c.b.select(c.b.binary(Gt, c.x(0), c.number(0)), c.x(0), mul(c, c.x(0), c.x(1))); }
int softplus(Call c) {
  const int scaled = mul(c, c.x(0), c.x(1));
  const int soft = div(c, c.b.unary(Log1p, expOf(c, scaled)), c.x(1));
  return c.b.select(c.b.binary(Gt, scaled, c.x(2)), c.x(0), soft);
}
int elu(Call c) {  // x, alpha, scale, input scale
  const int low = mul(c, mul(c, c.b.unary(Expm1, mul(c, c.x(0), c.x(3))), c.x(1)), c.x(2));
  return c.b.select(c.b.binary(Gt, c.x(0), c.number(0)), mul(c, c.x(0), c.x(2)), low);
}
int logSigmoid(Call c) {
  const int smaller = c.b.binary(Minimum, c.number(0), c.x(0));
  return sub(c, smaller, c.b.unary(Log1p, expOf(c, c.b.unary(Neg, c.b.unary(Abs, c.x(0))))));
}

int normalCdf(Call c, int x) {
  const int erf = c.b.unary(Erf, mul(c, x, c.number(M_SQRT1_2)));
  return mul(c, c.number(0.5), add(c, c.number(1), erf));
}
constexpr double geluScale = M_SQRT2 * M_2_SQRTPI * 0.5;
int geluTanh(Call c, int x) {
  const int cubed = mul(c, mul(c, x, x), x);
  const int inner = mul(c, c.number(geluScale), add(c, x, mul(c, c.number(0.044715), cubed)));
  return c.b.unary(Tanh, inner);
}
int gelu(Call c) {
  if (!usesTanh(c)) return mul(c, c.x(0), normalCdf(c, c.x(0)));
  return mul(c, mul(c, c.number(0.5), c.x(0)), add(c, c.number(1), geluTanh(c, c.x(0))));
}
int geluBackwardTanh(Call c) {
  const int x = c.x(1);
  const int t = geluTanh(c, x);
  const int slope = add(c, c.number(1), mul(c, c.number(3 * 0.044715), mul(c, x, x)));
  const int left = mul(c, c.number(0.5), add(c, c.number(1), t));
  const int decay = sub(c, c.number(1), mul(c, t, t));
  const int right = mul(c, mul(c, mul(c, c.number(0.5), x), decay), mul(c, c.number(geluScale), slope));
  return mul(c, c.x(0), add(c, left, right));
}
int geluBackward(Call c) {
  if (usesTanh(c)) return geluBackwardTanh(c);
  const int x = c.x(1);
  const int density = mul(c, expOf(c, mul(c, mul(c, c.number(-0.5), x), x)), c.number(M_2_SQRTPI * M_SQRT1_2 * 0.5));
  return mul(c, c.x(0), add(c, normalCdf(c, x), mul(c, x, density)));
}

int tanhBackward(Call c) { return mul(c, c.x(0), sub(c, c.number(1), mul(c, c.x(1), c.x(1)))); }
int sigmoidBackward(Call c) { return mul(c, mul(c, c.x(0), sub(c, c.number(1), c.x(1))), c.x(1)); }
int siluBackward(Call c) {
  const int s = sigmoidOf(c, c.x(1));
  const int slope = add(c, c.number(1), mul(c, c.x(1), sub(c, c.number(1), s)));
  return mul(c, mul(c, c.x(0), s), slope);
}
int thresholdBackward(Call c) { return c.b.select(c.b.binary(Le, c.x(1), c.x(2)), c.number(0), c.x(0)); }
int leakyReluBackward(Call c) {
  return c.b.select(c.b.binary(Gt, c.x(1), c.number(0)), c.x(0), mul(c, c.x(0), c.x(2)));
}
int hardtanhBackward(Call c) {
  const int outside = c.b.binary(Or, c.b.binary(Le, c.x(1), c.x(2)), c.b.binary(Ge, c.x(1), c.x(3)));
  return c.b.select(outside, c.number(0), c.x(0));
}
int hardswishBackward(Call c) {
  const int middle = mul(c, c.x(0), add(c, div(c, c.x(1), c.number(3)), c.number(0.5)));
  const int upper = c.b.select(c.b.binary(Lt, c.x(1), c.number(3)), middle, c.x(0));
  return c.b.select(c.b.binary(Le, c.x(1), c.number(-3)), c.number(0), upper);
}
int hardsigmoidBackward(Call c) {
  const int inside = c.b.binary(And, c.b.binary(Gt, c.x(1), c.number(-3)), c.b.binary(Lt, c.x(1), c.number(3)));
  return c.b.select(inside, div(c, c.x(0), c.number(6)), c.number(0));
}

constexpr OpFacts activationLoweringsRows[] = {
    pointwiseLowering("aten::relu", Numbers, relu, 2),
    pointwiseLowering("aten::relu6", Numbers, relu6, 4),
    pointwiseLowering("aten::sigmoid", Floats, sigmoid, 20),
    pointwiseLowering("aten::silu", Floats, silu, 20),
    pointwiseLowering("aten::hardswish", Floats, hardswish, 10),
    pointwiseLowering("aten::hardsigmoid", Floats, hardsigmoid, 10),
    pointwiseLowering("aten::leaky_relu", Floats, leakyRelu, 3),
    pointwiseLowering("aten::softplus", Floats, softplus, 40),
    pointwiseLowering("aten::elu", Floats, elu, 25),
    pointwiseLowering("aten::gelu", Floats, gelu, 25),
    pointwiseLowering("aten::log_sigmoid", Floats, logSigmoid, 40),
    pointwiseLowering("aten::tanh_backward", Floats, tanhBackward, 3),
    pointwiseLowering("aten::sigmoid_backward", Floats, sigmoidBackward, 3),
    pointwiseLowering("aten::silu_backward", Floats, siluBackward, 25),
    pointwiseLowering("aten::gelu_backward", Floats, geluBackward, 40),
    pointwiseLowering("aten::threshold_backward", Numbers, thresholdBackward, 2),
    pointwiseLowering("aten::leaky_relu_backward", Floats, leakyReluBackward, 3),
    pointwiseLowering("aten::hardtanh_backward", Numbers, hardtanhBackward, 3),
    pointwiseLowering("aten::hardswish_backward", Floats, hardswishBackward, 10),
    pointwiseLowering("aten::hardsigmoid_backward", Floats, hardsigmoidBackward, 6),
};

const OpRegistration activationLowerings({.facts = activationLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
