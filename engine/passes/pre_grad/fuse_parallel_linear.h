// Parallel linear layers: those that read the same value are one layer with all their rows.
//
//     q = linear(x, wq, bq); k = linear(x, wk, bk)
//       →      l = linear(x, cat([wq, wk]), cat([bq, bk])); a, b = split(l, [8, 8], -1); q = clone(a); k = clone(b)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Off by default: weights are put together in each run. Weights must be there before the first of the layers; all have
/// a bias or none has one.
Pass fuseParallelLinearPass();

}  // namespace kerf::inline passes
