// Which nodes of a graph look at memory that something in the graph may write into.
#pragma once

#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline accuracy {

/// What a call may alias is one group with its inputs; unknown ops may write into whatever they see.
class WrittenMemory {
 public:
  explicit WrittenMemory(const Graph& graph);
  bool contains(NodeId id) const { return m_written[group(id.index)]; }

 private:
  void visit(const Node& node, std::vector<NodeId>& written);
  std::size_t group(std::size_t index) const;
  void join(NodeId a, NodeId b) { m_group[group(a.index)] = group(b.index); }

  mutable std::vector<std::size_t> m_group;
  std::vector<bool> m_written;
};

}  // namespace kerf::inline accuracy
