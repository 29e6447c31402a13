// Arithmetic, comparisons, transcendental functions and selection.
#include <cmath>
#include <limits>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using Call = const PointwiseCall&;
using enum ExprOp;
using enum OperandTypes;

template <ExprOp Op>
int unary(Call c) {
  return c.b.unary(Op, c.x(0));
}
template <ExprOp Op>
int binary(Call c) {
  return c.b.binary(Op, c.x(0), c.x(1));
}

/// operand * alpha, which eager rounds to 16-bit floats before it adds.
int scaled(Call c, std::size_t operand) {
  if (c.operands.size() < 3) return c.x(operand);
  const int product = c.b.binary(Mul, c.x(operand), c.x(2));
  const bool isHalf = c.dtype == DType::BFloat16 || c.dtype == DType::Float16;
  return isHalf ? c.b.convert(c.b.convert(product, c.dtype), c.compute) : product;
}
int add(Call c) { return c.b.binary(Add, c.x(0), scaled(c, 1)); }
int sub(Call c) { return c.b.binary(Sub, c.x(0), scaled(c, 1)); }
int rsub(Call c) { return c.b.binary(Sub, c.x(1), scaled(c, 0)); }
int div(Call c) { return c.b.binary(Div, c.x(0), c.x(1)); }
int reciprocal(Call c) { return c.b.binary(Div, c.number(1), c.x(0)); }
int rsqrt(Call c) { return c.b.binary(Div, c.number(1), c.b.unary(Sqrt, c.x(0))); }
int square(Call c) { return c.b.binary(Mul, c.x(0), c.x(0)); }
int identity(Call c) { return c.x(0); }
/// floor, ceil, trunc and round leave integers alone.
template <ExprOp Op>
int rounding(Call c) {
  return isFloating(c.compute) ? c.b.unary(Op, c.x(0)) : c.x(0);
}
int frac(Call c) { return c.b.binary(Sub, c.x(0), c.b.unary(Trunc, c.x(0))); }
int sign(Call c) {
  const int zero = c.number(0);
  const int negative = c.b.select(c.b.binary(Lt, c.x(0), zero), c.number(-1), zero);
  return c.b.select(c.b.binary(Gt, c.x(0), zero), c.number(1), negative);
}

/// Eager takes roots for the numbers 0.5 and -0.5, but for float16: they differ from pow at -0.0 and -inf.
bool takesRoots(Call c) { return c.bound.tensorIf(1) == nullptr && c.dtype != DType::Float16; }

/// Exponents that eager computes with fewer roundings than pow.
int pow(Call c) {
  const Expr& exponent = c.b.kernel().exprs[std::size_t(c.x(1))];
  if (exponent.op == Constant) {
    const double value = exponent.real;
    if (value == 2) return square(c);
    if (value == 3) return c.b.binary(Mul, square(c), c.x(0));
    if (value == 1) return c.x(0);
    if (value == 0.5 && takesRoots(c)) return c.b.unary(Sqrt, c.x(0));
    if (value == -1) return reciprocal(c);
    if (value == -0.5 && takesRoots(c)) return rsqrt(c);
    if (value == -2) return c.b.binary(Div, c.number(1), square(c));
  }
  return binary<Pow>(c);
}

int clamp(Call c) {
  int value = c.x(0);
  if (c.x(1) >= 0) value = c.b.binary(Maximum, value, c.x(1));
  return c.operands.size() > 2 && c.x(2) >= 0 ? c.b.binary(Minimum, value, c.x(2)) : value;
}
int where(Call c) { return c.b.select(c.x(0), c.x(1), c.x(2)); }
int fma(Call c) { return c.b.fma(c.x(0), c.x(1), c.x(2)); }
/// Rounds once, as eager's kernels do, whose product and sum the compiler fuses.
int multiplyAdd(Call c, int a, int b, int sum) {
  return isFloating(c.compute) ? c.b.fma(a, b, sum) : c.b.binary(Add, sum, c.b.binary(Mul, a, b));
}
int addcmul(Call c) { return multiplyAdd(c, c.b.binary(Mul, c.x(3), c.x(1)), c.x(2), c.x(0)); }
int addcdiv(Call c) { return c.b.binary(Add, c.x(0), c.b.binary(Div, c.b.binary(Mul, c.x(3), c.x(1)), c.x(2))); }
int lerp(Call c) {
  const int difference = c.b.binary(Sub, c.x(1), c.x(0));
  const int low = multiplyAdd(c, c.x(2), difference, c.x(0));
  const int high = multiplyAdd(c, c.b.binary(Sub, c.x(2), c.number(1)), difference, c.x(1));
  return c.b.select(c.b.binary(Lt, c.b.unary(Abs, c.x(2)), c.number(0.5)), low, high);
}
int maskedFill(Call c) { return c.b.select(c.x(1), c.x(2), c.x(0)); }

int truth(Call c, std::size_t i) { return c.b.convert(c.x(i), DType::Bool); }
template <ExprOp Op>
int logical(Call c) {
  return c.b.binary(Op, truth(c, 0), truth(c, 1));
}
int logicalNot(Call c) { return c.b.unary(Not, truth(c, 0)); }
int isnan(Call c) { return isFloating(c.compute) ? c.b.unary(IsNan, c.x(0)) : c.b.integer(0, DType::Bool); }
int isinf(Call c) {
  if (!isFloating(c.compute)) return c.b.integer(0, DType::Bool);
  return c.b.binary(Eq, c.b.unary(Abs, c.x(0)), c.number(std::numeric_limits<double>::infinity()));
}

constexpr OpFacts arithmeticLoweringsRows[] = {
    pointwiseLowering("aten::add", Any, add, 1),
    pointwiseLowering("aten::sub", Numbers, sub, 1),
    pointwiseLowering("aten::rsub", Numbers, rsub, 1),
    pointwiseLowering("aten::mul", Any, binary<Mul>, 1),
    pointwiseLowering("aten::div.Tensor", Floats, div, 4),
    pointwiseLowering("aten::div.Scalar", Floats, div, 4),
    pointwiseLowering("aten::neg", Numbers, unary<Neg>, 1),
    pointwiseLowering("aten::abs", Numbers, unary<Abs>, 1),
    pointwiseLowering("aten::sign", Numbers, sign, 3),
    pointwiseLowering("aten::sgn", Numbers, sign, 3),
    pointwiseLowering("aten::square", Numbers, square, 1),
    pointwiseLowering("aten::reciprocal", Floats, reciprocal, 4),
    pointwiseLowering("aten::sqrt", Floats, unary<Sqrt>, 6),
    pointwiseLowering("aten::rsqrt", Floats, rsqrt, 10),
    pointwiseLowering("aten::exp", Floats, unary<Exp>, 15),
    pointwiseLowering("aten::exp2", Floats, unary<Exp2>, 15),
    pointwiseLowering("aten::expm1", Floats, unary<Expm1>, 20),
    pointwiseLowering("aten::log", Floats, unary<Log>, 15),
    pointwiseLowering("aten::log2", Floats, unary<Log2>, 15),
    pointwiseLowering("aten::log10", Floats, unary<Log10>, 15),
    pointwiseLowering("aten::log1p", Floats, unary<Log1p>, 20),
    pointwiseLowering("aten::sin", Floats, unary<Sin>, 20),
    pointwiseLowering("aten::cos", Floats, unary<Cos>, 20),
    pointwiseLowering("aten::tan", Floats, unary<Tan>, 30),
    pointwiseLowering("aten::asin", Floats, unary<Asin>, 20),
    pointwiseLowering("aten::acos", Floats, unary<Acos>, 20),
    pointwiseLowering("aten::atan", Floats, unary<Atan>, 20),
    pointwiseLowering("aten::sinh", Floats, unary<Sinh>, 20),
    pointwiseLowering("aten::cosh", Floats, unary<Cosh>, 20),
    pointwiseLowering("aten::tanh", Floats, unary<Tanh>, 20),
    pointwiseLowering("aten::asinh", Floats, unary<Asinh>, 20),
    pointwiseLowering("aten::acosh", Floats, unary<Acosh>, 20),
    pointwiseLowering("aten::atanh", Floats, unary<Atanh>, 20),
    pointwiseLowering("aten::erf", Floats, unary<Erf>, 20),
    pointwiseLowering("aten::erfc", Floats, unary<Erfc>, 20),
    pointwiseLowering("aten::floor", Numbers, rounding<Floor>, 1),
    pointwiseLowering("aten::ceil", Numbers, rounding<Ceil>, 1),
    pointwiseLowering("aten::trunc", Numbers, rounding<Trunc>, 1),
    pointwiseLowering("aten::round", Numbers, rounding<RoundEven>, 1),
    pointwiseLowering("aten::frac", Floats, frac, 2),
    pointwiseLowering("aten::pow", Floats, pow, 40),
    pointwiseLowering("aten::atan2", Floats, binary<Atan2>, 30),
    pointwiseLowering("aten::hypot", Floats, binary<Hypot>, 20),
    pointwiseLowering("aten::copysign", Floats, binary<CopySign>, 1),
    pointwiseLowering("aten::maximum", Any, binary<Maximum>, 2),
    pointwiseLowering("aten::minimum", Any, binary<Minimum>, 2),
    pointwiseLowering("aten::clamp", Numbers, clamp, 3),
    pointwiseLowering("aten::clamp_min", Numbers, binary<Maximum>, 2),
    pointwiseLowering("aten::clamp_max", Numbers, binary<Minimum>, 2),
    pointwiseLowering("aten::hardtanh", Numbers, clamp, 3),
    pointwiseLowering("aten::where", Any, where, 1),
    pointwiseLowering("aten::masked_fill", Any, maskedFill, 1),
    pointwiseLowering("aten::lerp", Floats, lerp, 6),
    pointwiseLowering("aten::addcmul", Numbers, addcmul, 3),
    pointwiseLowering("aten::addcdiv", Floats, addcdiv, 6),
    pointwiseLowering("prims::fma", Floats, fma, 1),
    pointwiseLowering("aten::eq", Any, binary<Eq>, 1),
    pointwiseLowering("aten::ne", Any, binary<Ne>, 1),
    pointwiseLowering("aten::lt", Any, binary<Lt>, 1),
    pointwiseLowering("aten::le", Any, binary<Le>, 1),
    pointwiseLowering("aten::gt", Any, binary<Gt>, 1),
    pointwiseLowering("aten::ge", Any, binary<Ge>, 1),
    pointwiseLowering("aten::logical_and", Any, logical<And>, 1),
    pointwiseLowering("aten::logical_or", Any, logical<Or>, 1),
    pointwiseLowering("aten::logical_xor", Any, logical<Xor>, 1),
    pointwiseLowering("aten::logical_not", Any, logicalNot, 1),
    pointwiseLowering("aten::bitwise_and", Integers, binary<And>, 1),
    pointwiseLowering("aten::bitwise_or", Integers, binary<Or>, 1),
    pointwiseLowering("aten::bitwise_xor", Integers, binary<Xor>, 1),
    pointwiseLowering("aten::bitwise_not", Integers, unary<Not>, 1),
    pointwiseLowering("aten::isnan", Any, isnan, 1),
    pointwiseLowering("aten::isinf", Any, isinf, 1),
    pointwiseLowering("aten::positive", Numbers, identity, 0),
};

const OpRegistration arithmeticLowerings({.facts = arithmeticLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
