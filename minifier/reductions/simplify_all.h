// simplify_all: what the reductions of inputs and arguments do at best, all in one candidate: where the values do not
// matter, one question settles it.
//
//     x: f16[8, 64] random; y = softmax(x, 1, True)      →      x: f32[] = 0; y = softmax(x, -1, False)
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction simplifyAll();
/// The same, and plainer ops with it, where few calls are left. Of what is plain already, other reductions ask less; in a large graph plain
/// arguments would only stand in the way of shorter ones.
Reduction simplifySmall();
/// How many calls are few.
inline constexpr std::size_t fewCalls = 16;

}  // namespace kerf::inline minifier::inline reductions
