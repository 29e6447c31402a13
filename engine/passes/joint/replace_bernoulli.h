// Bernoulli as comparison: draws of 0 and 1 become uniform numbers that are compared with the probability, which fuses.
//
//     y = bernoulli(x, p=0.3)      →      y = convert(lt(rand(x.shape), 0.3), x.dtype)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Off by default: these are other numbers than eager's for the same generator (`inductor_numbers`).
Pass replaceBernoulliPass();

}  // namespace kerf::inline passes
