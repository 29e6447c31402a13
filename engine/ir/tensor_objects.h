// TensorObjects: which nodes of a graph are one tensor to Python. x.t_(), out=x and x.resize_(…) give x itself back, which then
// has other sizes under every name.
// Not followed: x.contiguous() and x.to(…), which give x back only for some strides and dtypes.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline ir {

/// The nodes whose tensors a call gives back with what may be other sizes, strides or memory: out=, and methods that change
/// only how a tensor looks at its memory (t_, resize_). One for each tensor of the result; empty for other calls.
std::vector<NodeId> reshapedOperands(const Node& node);

/// Whether the call gives a list of what it reshaped: out= was one.
bool givesReshapedList(const Node& node);

/// The operand that a call gives back: that of t_ or of a single out=, and the first one of add_ and of operator.iadd, which
/// gives it back where it is a tensor.
std::optional<NodeId> operandGivenBack(const Node& node);

/// `call[item]`: an item of what another node gave.
struct ItemOfCall {
  NodeId call;
  std::size_t item = 0;
};
std::optional<ItemOfCall> itemOfCall(const Node& node);

class TensorObjects {
 public:
  /// Takes time linear in the graph; nothing is kept of a graph without such calls.
  explicit TensorObjects(const Graph& graph);

  /// Whether a call of the graph may reshape an operand.
  bool any() const { return !m_calls.empty(); }
  /// reshapedOperands() of a node as the graph was, in no time that grows with them.
  std::span<const NodeId> reshapedBy(NodeId call) const;
  /// The same of calls that give a list of them; empty for others.
  std::span<const NodeId> listedBy(NodeId call) const;
  /// The tensor of a list of out= that `call[item]` is.
  std::optional<NodeId> listedItem(const Node& node) const;
  /// What gave the tensor that `node` is: `node` itself, unless it gives an operand back.
  NodeId first(NodeId node) const;
  /// Every node that is the tensor which `first` gave, in the graph's order, without `first`.
  std::span<const NodeId> later(NodeId first) const;

 private:
  void add(const Graph& graph, NodeId id);
  bool isNumber(const Node& node) const;

  struct Reshaping {
    std::vector<NodeId> operands;
    bool isList = false;
  };
  std::unordered_map<NodeId, Reshaping> m_calls;
  std::unordered_set<NodeId> m_numbers;                     ///< sizes, and what is computed of them
  std::unordered_map<NodeId, NodeId> m_first;               ///< of calls that give an operand back: what gave it first
  std::unordered_map<NodeId, std::vector<NodeId>> m_later;  ///< the other way round
};

/// The graph in which users of such a tensor that come after the call take the call's result. Names and order stay; items of
/// an out= of several tensors become getitem nodes.
void useReshapedTensors(Graph& graph);
/// The same for a module's graph and for all that is nested in it.
void useReshapedTensors(GraphModule& module);

}  // namespace kerf::inline ir
