// What a node depends on through memory: a read of a buffer that an earlier node has written into, perhaps by way of
// views of it.
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline verification {

class MemoryEdges {
 public:
  explicit MemoryEdges(const Graph& graph);
  /// The node's operands, and the nodes before it that wrote into the memory of one of them.
  std::vector<NodeId> dependencies(NodeId node) const;
  /// Nodes that write into the memory of `node`, in order.
  std::vector<NodeId> writers(NodeId node) const;

 private:
  NodeId baseOf(NodeId node) const;

  const Graph& m_graph;
  std::unordered_map<NodeId, NodeId> m_viewOf;                ///< node → operand whose memory it looks at
  std::unordered_map<NodeId, std::vector<NodeId>> m_writers;  ///< by base, in order
  std::unordered_map<NodeId, std::size_t> m_position;
};

}  // namespace kerf::inline verification
