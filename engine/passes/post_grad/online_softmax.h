// Online softmax: maximum and sum of a softmax in one pass over its row.
//
//     m = amax(x, [-1], True); d = sub(x, m); e = exp(d); s = sum(e, [-1], True)
//         →      p = prepare_softmax_online(x, -1); m = p[0]; s = p[1]; d = sub(x, m); e = exp(d)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// torch._inductor's prepare_softmax_pattern. On CUDA by default, as there: elsewhere no kernel does it in one pass.
Pass onlineSoftmaxPass();

}  // namespace kerf::inline passes
