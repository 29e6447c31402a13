// Arithmetic on the expressions of one element, for lowerings of element-wise ops.
#pragma once

#include "engine/ops/core/lowering_calls.h"

namespace kerf::inline ops::lowered {

using Call = const PointwiseCall&;

inline int add(Call c, int a, int b) { return c.b.binary(ExprOp::Add, a, b); }
inline int sub(Call c, int a, int b) { return c.b.binary(ExprOp::Sub, a, b); }
inline int mul(Call c, int a, int b) { return c.b.binary(ExprOp::Mul, a, b); }
inline int div(Call c, int a, int b) { return c.b.binary(ExprOp::Div, a, b); }
inline int expOf(Call c, int a) { return c.b.unary(ExprOp::Exp, a); }
inline int sigmoidOf(Call c, int x) {
  const int one = c.number(1);
  return div(c, one, add(c, one, expOf(c, c.b.unary(ExprOp::Neg, x))));
}
inline int clamped(Call c, int x, double low, double high) {
  return c.b.binary(ExprOp::Minimum, c.b.binary(ExprOp::Maximum, x, c.number(low)), c.number(high));
}

}  // namespace kerf::inline ops::lowered
