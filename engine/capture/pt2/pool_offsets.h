// Max pooling by offsets (Inductor's) in terms of max pooling by indices (ATen's).
#pragma once

#include "engine/ir/graph.h"

namespace kerf::inline capture::pt2 {

/// Rewrites one prims._low_memory_max_pool_with_offsets node over two dimensions: the maxima come from
/// aten.max_pool2d_with_indices, the offsets within each window are computed from its indices. Leaves the node alone if
/// its arguments or metas are not plain numbers.
void poolOffsetsFromIndices(Graph& graph, NodeId id);
/// Rewrites one prims._low_memory_max_pool_offsets_to_indices node over two dimensions into arithmetic.
void poolIndicesFromOffsets(Graph& graph, NodeId id);

}  // namespace kerf::inline capture::pt2
