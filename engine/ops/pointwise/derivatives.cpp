// Derivatives of element-wise ops.
#include <cmath>

#include "engine/ops/pointwise/families.h"

namespace kerf::inline ops {
namespace {

using Steps = CompositeSteps&;
using Call = const CallRecord&;

/// flow * number, skipped for 1.
Value scaled(Steps s, const Tensor& flow, const Value& number) {
  const auto* factor = number.as<std::int64_t>();
  return factor != nullptr && *factor == 1 ? Value(flow) : Value(s("aten.mul.Scalar"_op, {flow, number}));
}

Value add(Steps s, Call c, const Tensor& flow, std::size_t i) {
  return i == 1 ? scaled(s, flow, c.args.values[2]) : Value(flow);
}
Value sub(Steps s, Call c, const Tensor& flow, std::size_t i) {
  return i == 1 ? scaled(s, s("aten.neg.default"_op, {flow}), c.args.values[2]) : Value(flow);
}
Value mul(Steps s, Call c, const Tensor& flow, std::size_t i) {
  return s("aten.mul.Tensor"_op, {flow, c.args.values[1 - i]});
}
Value div(Steps s, Call c, const Tensor& flow, std::size_t i) {
  if (i == 0) return s("aten.div.Tensor"_op, {flow, c.args.values[1]});
  const Tensor slope = s("aten.div.Tensor"_op, {c.result(), c.args.values[1]});
  return s("aten.mul.Tensor"_op, {s("aten.neg.default"_op, {flow}), slope});
}

Value same(Steps, Call, const Tensor& flow, std::size_t) { return flow; }
Value neg(Steps s, Call, const Tensor& flow, std::size_t) { return s("aten.neg.default"_op, {flow}); }
Value exp(Steps s, Call c, const Tensor& flow, std::size_t) { return s("aten.mul.Tensor"_op, {flow, c.result()}); }
Value log(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.div.Tensor"_op, {flow, c.args.values[0]});
}
Value log1p(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.div.Tensor"_op, {flow, s("aten.add.Scalar"_op, {c.args.values[0], std::int64_t{1}})});
}
Value sqrt(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.div.Tensor"_op, {flow, s("aten.mul.Scalar"_op, {c.result(), std::int64_t{2}})});
}
Value rsqrt(Steps s, Call c, const Tensor& flow, std::size_t) {
  const Tensor cube = s("aten.pow.Tensor_Scalar"_op, {c.result(), std::int64_t{3}});
  return s("aten.mul.Tensor"_op, {s("aten.mul.Scalar"_op, {flow, -0.5}), cube});
}
Value reciprocal(Steps s, Call c, const Tensor& flow, std::size_t) {
  const Tensor square = s("aten.mul.Tensor"_op, {c.result(), c.result()});
  return s("aten.mul.Tensor"_op, {s("aten.neg.default"_op, {flow}), square});
}
Value sin(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.mul.Tensor"_op, {flow, s("aten.cos.default"_op, {c.args.values[0]})});
}
Value cos(Steps s, Call c, const Tensor& flow, std::size_t) {
  const Tensor slope = s("aten.neg.default"_op, {s("aten.sin.default"_op, {c.args.values[0]})});
  return s("aten.mul.Tensor"_op, {flow, slope});
}
Value abs(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.mul.Tensor"_op, {flow, s("aten.sgn.default"_op, {c.args.values[0]})});
}
/// 2/√π · exp(-x²)
Value erf(Steps s, Call c, const Tensor& flow, std::size_t) {
  const Tensor square = s("aten.pow.Tensor_Scalar"_op, {c.args.values[0], std::int64_t{2}});
  const Tensor bell = s("aten.exp.default"_op, {s("aten.neg.default"_op, {square})});
  return s("aten.mul.Tensor"_op, {s("aten.mul.Scalar"_op, {bell, M_2_SQRTPI}), flow});
}
Value pow(Steps s, Call c, const Tensor& flow, std::size_t) {
  const double exponent = c.args.number(1);  // of a symbolic one the value is needed: it becomes a guard
  if (exponent == 0) return s("aten.zeros_like.default"_op, {c.args.values[0]});
  const auto* whole = c.args.values[1].as<std::int64_t>();
  const Value less = whole ? Value(*whole - 1) : Value(exponent - 1);
  const Tensor power = s("aten.pow.Tensor_Scalar"_op, {c.args.values[0], less});
  return s("aten.mul.Tensor"_op, {flow, s("aten.mul.Scalar"_op, {power, c.args.values[1]})});
}
Value where(Steps s, Call c, const Tensor& flow, std::size_t i) {
  const Tensor zero = s("aten.zeros.default"_op, {intList({})}, {{"dtype", flow.dtype()}});
  const Value a = i == 1 ? flow : zero, b = i == 1 ? zero : flow;
  return s("aten.where.self"_op, {c.args.values[0], a, b});
}
/// maximum and minimum: the operand that wins takes the gradient, equal operands share it.
Value won(Steps s, Call c, const Tensor& flow, std::size_t i, OpId loses) {
  const Tensor half = s("aten.div.Scalar"_op, {flow, std::int64_t{2}});
  const Tensor equal = s("aten.eq.Tensor"_op, {c.args.values[0], c.args.values[1]});
  const Tensor lost = s(loses, {c.args.values[i], c.args.values[1 - i]});
  return s("aten.masked_fill.Scalar"_op, {s("aten.where.self"_op, {equal, half, flow}), lost, std::int64_t{0}});
}
Value maximum(Steps s, Call c, const Tensor& flow, std::size_t i) { return won(s, c, flow, i, "aten.lt.Tensor"_op); }
Value minimum(Steps s, Call c, const Tensor& flow, std::size_t i) { return won(s, c, flow, i, "aten.gt.Tensor"_op); }

// Activations: their backward ops, as autograd calls them

Value tanh(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.tanh_backward.default"_op, {flow, c.result()});
}
Value sigmoid(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.sigmoid_backward.default"_op, {flow, c.result()});
}
Value relu(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.threshold_backward.default"_op, {flow, c.result(), std::int64_t{0}});
}
Value gelu(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.gelu_backward.default"_op, {flow, c.args.values[0]}, {{"approximate", c.args.values[1]}});
}
Value silu(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.silu_backward.default"_op, {flow, c.args.values[0]});
}
Value leakyRelu(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.leaky_relu_backward.default"_op, {flow, c.args.values[0], c.args.values[1], false});
}
Value hardtanh(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.hardtanh_backward.default"_op, {flow, c.args.values[0], c.args.values[1], c.args.values[2]});
}
Value softplus(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.softplus_backward.default"_op, {flow, c.args.values[0], c.args.values[1], c.args.values[2]});
}
Value hardswish(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.hardswish_backward.default"_op, {flow, c.args.values[0]});
}
Value hardsigmoid(Steps s, Call c, const Tensor& flow, std::size_t) {
  return s("aten.hardsigmoid_backward.default"_op, {flow, c.args.values[0]});
}

constexpr OpFacts table[] = {
    slopeOf<add>("aten::add.Tensor"),
    slopeOf<add>("aten::add.Scalar"),
    slopeOf<sub>("aten::sub.Tensor"),
    slopeOf<sub>("aten::sub.Scalar"),
    slopeOf<mul>("aten::mul.Tensor"),
    slopeOf<mul>("aten::mul.Scalar"),
    slopeOf<div>("aten::div.Tensor"),
    slopeOf<div>("aten::div.Scalar"),
    slopeOf<same>("aten::clone"),
    slopeOf<same>("aten::_to_copy"),
    slopeOf<neg>("aten::neg"),
    slopeOf<exp>("aten::exp"),
    slopeOf<log>("aten::log"),
    slopeOf<log1p>("aten::log1p"),
    slopeOf<sqrt>("aten::sqrt"),
    slopeOf<rsqrt>("aten::rsqrt"),
    slopeOf<reciprocal>("aten::reciprocal"),
    slopeOf<sin>("aten::sin"),
    slopeOf<cos>("aten::cos"),
    slopeOf<abs>("aten::abs"),
    slopeOf<erf>("aten::erf"),
    slopeOf<pow>("aten::pow.Tensor_Scalar"),
    slopeOf<where>("aten::where.self"),
    slopeOf<maximum>("aten::maximum"),
    slopeOf<minimum>("aten::minimum"),
    slopeOf<tanh>("aten::tanh"),
    slopeOf<sigmoid>("aten::sigmoid"),
    slopeOf<relu>("aten::relu"),
    slopeOf<gelu>("aten::gelu"),
    slopeOf<silu>("aten::silu"),
    slopeOf<leakyRelu>("aten::leaky_relu"),
    slopeOf<hardtanh>("aten::hardtanh"),
    slopeOf<softplus>("aten::softplus"),
    slopeOf<hardswish>("aten::hardswish"),
    slopeOf<hardsigmoid>("aten::hardsigmoid"),
};

}  // namespace

OpFactRows pointwiseDerivatives() { return table; }

}  // namespace kerf::inline ops
