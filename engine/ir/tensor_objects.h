// TensorObjects: which nodes of a graph are one tensor to Python. x.t_(), out=x and x.resize_(…) give x itself back, which then
// has other sizes under every name.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline ir {

/// The nodes whose tensors a call gives back with what may be other sizes, strides or memory: out=, and methods that change
/// only how a tensor looks at its memory (t_, resize_). One for each tensor of the result; empty for other calls.
std::vector<NodeId> reshapedOperands(const Node& node);

class TensorObjects {
 public:
  /// Takes time linear in the graph; nothing is kept of a graph without such calls.
  explicit TensorObjects(const Graph& graph);

  /// Whether a call of the graph may reshape an operand.
  bool any() const { return m_any; }
  /// What gave the tensor that `node` is: `node` itself, unless it gives an operand back.
  NodeId first(NodeId node) const;
  /// Every node that is the tensor which `first` gave, in the graph's order, without `first`.
  std::span<const NodeId> later(NodeId first) const;

 private:
  void add(const Graph& graph, NodeId id);

  bool m_any = false;
  std::unordered_map<NodeId, NodeId> m_first;               ///< of calls that give an operand back: what gave it first
  std::unordered_map<NodeId, std::vector<NodeId>> m_later;  ///< the other way round
};

/// The graph in which users of such a tensor that come after the call take the call's result. Names and order stay; items of
/// an out= of several tensors become getitem nodes.
void useReshapedTensors(Graph& graph);

}  // namespace kerf::inline ir
