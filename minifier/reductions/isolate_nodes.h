// isolate_nodes: one call alone, on recorded values: where a single op is to blame, the search ends here.
//
//     p = permute(w); a = addmm(b, x, p); r = relu(a); m = mm(r, v); return m      →      r = relu(a); return r
//     (placeholders b, w, x, v)                                                           (placeholder a)
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction isolateNodes();

}  // namespace kerf::inline minifier::inline reductions
