// remove_prefix: starts late, on recorded values.
//
//     a = f(x); b = g(a); c = h(b); return c      →      c = h(b); return c      (placeholder b)
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction removePrefix();

}  // namespace kerf::inline minifier::inline reductions
