// Whether a value is only read by ops that could be fused with what made it.
#pragma once

#include "engine/ir/graph.h"

namespace kerf::inline passes {

/// Every user is a pointwise op, or a view or getitem with only such users (torch._inductor's is_pointwise_use). True of
/// a value without users.
bool hasPointwiseUsersOnly(const Graph& graph, const Node& node);

}  // namespace kerf::inline passes
