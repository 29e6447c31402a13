// A layer and its activation: addmm, or the view of one, that relu or gelu alone reads.
//
//     y = relu(view(addmm(b, x, w), [2, 3, 4]))      →      y = view(_addmm_activation(b, x, w), [2, 3, 4])
#pragma once

#include <vector>

#include "engine/patterns/register_replacement.h"

namespace kerf::inline patterns {

std::vector<ReplacementRule> activationRules();

}  // namespace kerf::inline patterns
