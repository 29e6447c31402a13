// MutationRegions: which nodes have no write between them (PyTorch's mutation_region_id).
//
//     a = mul(x, y); copy_(x, z); b = add(a, x)      →      a is in region 0, copy_ and b are in region 1
#pragma once

#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline patterns {

/// Whether a call writes into memory or changes a mode; drawing random numbers is neither.
bool isBarrier(const Node& node);

class MutationRegions {
 public:
  explicit MutationRegions(const Graph& graph);
  /// Number of barriers up to the node, itself included.
  std::size_t of(NodeId node) const { return node.index < m_regions.size() ? m_regions[node.index] : 0; }
  /// A new node that stands where `like` does.
  void add(NodeId node, NodeId like);
  /// The first barrier behind `node` in the order of the graph as it was; invalid where there is none.
  NodeId barrierAfter(NodeId node) const;

 private:
  std::vector<std::size_t> m_regions;  ///< by NodeId::index
  std::vector<NodeId> m_barriers;      ///< by region, the first of them begins region 1
};

}  // namespace kerf::inline patterns
