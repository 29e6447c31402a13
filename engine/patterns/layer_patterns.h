// Layers that are written out: softmax, log_softmax, gelu, layer and RMS norm as Inductor's decompositions or models
// write them, each with the op that stands for it.
#pragma once

#include <vector>

#include "engine/patterns/register_replacement.h"

namespace kerf::inline patterns {

/// For inference and training, float32 and float16.
std::vector<ReplacementRule> layerRules();

}  // namespace kerf::inline patterns
