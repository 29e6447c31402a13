// cut_outputs: fewer outputs, and without what only the others needed.
//
//     a = f(x); b = g(x); return (a, b)      →      a = f(x); return (a,)
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction cutOutputs();

}  // namespace kerf::inline minifier::inline reductions
