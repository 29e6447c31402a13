// reduce_nested: a call inside a nested graph is replaced by one of its operands; the nested graph stays one.
//
//     body(x): a = f(x); b = relu(a); return b      →      body(x): b = relu(x); return b
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction reduceNested();

}  // namespace kerf::inline minifier::inline reductions
