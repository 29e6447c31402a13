// search_sets: only some of the calls, any set of them, on the values that they were recorded with; the others' results
// are inputs, and what they used are outputs. The search itself is core's (SetSearch).
//
//     a = f(x); b = g(a); c = h(b); d = k(c, a); return d      →      b = g(a); d = k(c, a); return b, d
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction searchSets();

}  // namespace kerf::inline minifier::inline reductions
