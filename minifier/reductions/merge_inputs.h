// merge_inputs: two inputs of the same shape and dtype become one.
//
//     a = add(x, y); return a      →      a = add(x, x); return a
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction mergeInputs();

}  // namespace kerf::inline minifier::inline reductions
