// Fuse attention: attention written out becomes one fused call (Inductor's joint-graph pass).
//
//     bmm, div, amax, sub, exp, sum, div, bmm      →      _scaled_dot_product_flash_attention_for_cpu
#pragma once

#include "engine/passes/pass.h"
#include "engine/patterns/pattern_matcher_pass.h"

namespace kerf::inline patterns {

/// The attention patterns; loaded once, when they are asked for.
Result<const PatternMatcherPass*> attentionMatcher();
/// Joint stage.
Pass fuseAttentionPass();

}  // namespace kerf::inline patterns
