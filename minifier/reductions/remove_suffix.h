// remove_suffix: stops early and returns what is alive there.
//
//     a = f(x); b = g(a); c = h(b); return c      →      a = f(x); b = g(a); return b
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction removeSuffix();

}  // namespace kerf::inline minifier::inline reductions
