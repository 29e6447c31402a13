// remove_unused: dead calls and inputs that nothing reads go; impure dead calls only if the failure stays without.
//
//     a = f(x); b = g(y); return a      →      a = f(x); return a      (and no placeholder y)
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction removeUnused();

}  // namespace kerf::inline minifier::inline reductions
