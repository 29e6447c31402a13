// shrink_dims: a dimension gets the least size with which the graph still fails, in all inputs that have it and in the
// sizes that calls name; data is what the inputs' first elements were.
//
//     x: f32[64, 32]; v = view(x, [64, 4, 8]); return v      →      x: f32[1, 32]; v = view(x, [1, 4, 8]); return v
#pragma once

#include "minifier/core/reduction.h"
#include "minifier/reductions/dim_classes.h"

namespace kerf::inline minifier::inline reductions {

Reduction shrinkDims();
/// Every dimension of every input 1; none where the calls do not allow that.
std::optional<Candidate> allDimsOne(const Candidate& candidate);
/// Every dimension 1 but those of the class.
std::optional<Candidate> otherDimsOne(const Candidate& candidate, const DimClass& kept);

}  // namespace kerf::inline minifier::inline reductions
