// The attention patterns that Kerf ships: every form with its half, single-batch, training and inference variants.
#pragma once

#include <vector>

#include "engine/patterns/register_replacement.h"

namespace kerf::inline patterns {

/// Named as Inductor names them: "sfdp_pattern_16_half_mask_fp32_bs1_training". In the order in which they are tried.
std::vector<ReplacementRule> attentionRules();

}  // namespace kerf::inline patterns
