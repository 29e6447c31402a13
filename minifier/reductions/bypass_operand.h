// bypass_operand: a call is replaced by one of its operands of the same shape and dtype.
//
//     a = f(x); b = add(a, y); return b      →      a = f(x); return a
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction bypassOperand();

}  // namespace kerf::inline minifier::inline reductions
