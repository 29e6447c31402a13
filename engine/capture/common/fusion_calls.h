// Fusion groups out of an output code's calls: which nodes of the graph that Inductor lowered each of them computes.
#pragma once

#include "engine/capture/common/details.h"
#include "engine/capture/common/wrapper_code.h"
#include "engine/ir/graph.h"

namespace kerf::inline capture {

/// One group for each call, in order; `lowered` is the graph after the post-grad passes. Kernels whose definition has a
/// graph fragment get its nodes for their first call, and the same part of the graph again for each later one; calls
/// of existing functions get the node of that op whose inputs fit best. Groups of C++ kernels, which have no comments,
/// and of calls that cannot be placed have no nodes; their preGradNodes are what the comment above the call names.
std::vector<RecordedFusionGroup> groupsOfCalls(const WrapperCode& code, const Graph& lowered);

/// Calls of the graph that compute: neither views nor items of tuples.
std::vector<NodeId> computingNodes(const Graph& graph);

}  // namespace kerf::inline capture
