// keep_window: a run of neighbouring calls alone, on recorded values.
//
//     a = f(x); b = g(a); c = h(b); d = k(c); return d      →      b = g(a); c = h(b); return c      (placeholder a)
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction keepWindow();

}  // namespace kerf::inline minifier::inline reductions
