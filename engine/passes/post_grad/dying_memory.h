// Dying memory: whether a call may write its result over an operand, because nobody looks at that memory afterwards.
#pragma once

#include <vector>

#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

/// Of one graph as it is now. Positions and groups are taken once: make a new one after a change.
class DyingMemory {
 public:
  explicit DyingMemory(const Graph& graph);
  /// Whether nothing that may share memory with `operand` is used after `call`, nor by another argument of it. Memory
  /// that the graph was given may be written where the graph copies this very result back into it (copy_), and only
  /// that reads it later.
  bool mayBeWritten(NodeId call, NodeId operand) const;
  /// The copy_ that puts the result of `call` into the given tensor `operand`; invalid if there is none.
  NodeId copyBack(NodeId call, NodeId operand) const;

 private:
  bool isUsedLater(NodeId call, NodeId operand, NodeId except) const;
  bool isGiven(NodeId operand) const;

  const Graph& m_graph;
  AliasGroups m_aliases;
  std::vector<std::size_t> m_position;  ///< by NodeId::index
};

}  // namespace kerf::inline passes
