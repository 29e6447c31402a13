// simplify_ops: a fused op becomes one of the ops it is made of, an elementwise one a plainer one.
//
//     a = addmm(b, x, w)      →      a = mm(x, w)
//     a = gelu(x)             →      a = neg(x)
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction simplifyOps();
/// As many plainer ops as the calls allow, until none has one.
std::optional<Candidate> allOpsPlain(const Candidate& candidate);
/// All that simplifyOps() may do in one candidate, of few calls: where only the graph's form matters, one test
/// settles it.
Reduction plainOps();

}  // namespace kerf::inline minifier::inline reductions
