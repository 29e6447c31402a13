// Indices from randperm are within bounds and each but once, so that nothing must be checked or added up.
//
//     y = index_put(x, [randperm(8)[:4]], s, accumulate=True)
//                    →      y = _unsafe_index_put(x, [i], _unsafe_index(x, [i]) + s)
#pragma once

#include <vector>

#include "engine/patterns/pattern_matcher_pass.h"

namespace kerf::inline patterns {

/// "randperm_index" and "randperm_index_add".
std::vector<PatternEntry> randpermEntries();

}  // namespace kerf::inline patterns
