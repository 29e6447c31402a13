// merge_inputs: one input takes the place of another.
//
//     a = add(x, y); return a      →      a = add(x, x); return a
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction mergeInputs();
/// Every input that can be is another one.
std::optional<Candidate> allInputsMerged(const Candidate& candidate);

}  // namespace kerf::inline minifier::inline reductions
