// Recorded fusion groups as sets of nodes of one graph, without what a kernel loads from memory.
#pragma once

#include <span>
#include <unordered_set>
#include <vector>

#include "engine/capture/common/details.h"
#include "engine/ir/graph.h"

namespace kerf::inline pipeline {

/// One fused kernel.
struct FusedNodes {
  std::vector<NodeId> nodes;           ///< in graph order
  std::unordered_set<NodeId> members;  ///< the same
  std::unordered_set<NodeId> stored;   ///< those that it writes to memory for sure
  std::size_t group = 0;               ///< of the recorded groups: which one
};

struct FusedGraph {
  std::vector<FusedNodes> kernels;  ///< in the order of the calls; those without nodes are left out
  std::size_t missing = 0;          ///< names that the graph does not have
};

/// Generated kernels only. A node that an earlier kernel stores is loaded by the later ones: a group's record may name
/// it all the same.
FusedGraph fusedNodes(const Graph& graph, std::span<const RecordedFusionGroup> groups);

}  // namespace kerf::inline pipeline
