// delta_nodes: without some neighbouring calls; those still needed become inputs with their recorded values.
//
//     a = f(x); b = g(a, y); c = h(b, x); return c      →      c = h(b, x); return c      (placeholders x, b)
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction deltaNodes();

}  // namespace kerf::inline minifier::inline reductions
