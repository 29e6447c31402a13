// Fuse attention: attention written out becomes one fused call (Inductor's joint-graph pass).
//
//     bmm, div, amax, sub, exp, sum, div, bmm      →      _scaled_dot_product_flash_attention_for_cpu
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline patterns {

/// Loads the patterns now if the pass would ask for them: once for all the processes that are forked to compile the
/// graph.
void loadPatternsFor(const GraphModule& module);
/// Joint stage.
Pass fuseAttentionPass();

}  // namespace kerf::inline patterns
