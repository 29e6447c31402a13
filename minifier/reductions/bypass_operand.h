// bypass_operand: a call is replaced by one of its operands, or what it takes by something that was computed before;
// the shapes behind it follow.
//
//     a = f(x); b = add(a, y); return b               →      a = f(x); return a
//     a = f(x); b = g(a); c = h(b); d = k(c)          →      a = f(x); d = k(a)
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction bypassOperand();

}  // namespace kerf::inline minifier::inline reductions
