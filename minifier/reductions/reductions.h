// The table of reductions, and the one that decides whether a result is 1-minimal.
#pragma once

#include <vector>

#include "minifier/core/reduction.h"

namespace kerf {

#define KERF_REDUCTION(name, function) Reduction function();
#include "minifier/reductions/reductions.def"
#undef KERF_REDUCTION

/// All of them, in the order of reductions.def.
std::vector<Reduction> allReductions();
/// Every edit that takes away a single node: each call cut or bypassed, each output dropped, each input merged.
Reduction singleRemovals();

}  // namespace kerf
