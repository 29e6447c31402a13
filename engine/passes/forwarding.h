// Forwarding: whether the users of a call may read one of its operands instead.
//
//     v = view(x, [2, 3]); r = relu(v)      →      r = relu(x)
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

/// Of one graph, while a pass forwards calls of it. The caller knows that both hold the same elements.
class Forwarding {
 public:
  explicit Forwarding(const Graph& graph);
  /// Same dtype, sizes, strides and device; no output becomes an input, an attribute or the same tensor as another
  /// output, nor a view of them where it had memory of its own (torch._inductor's remove_noop_ops); no memory of
  /// theirs is written by the call or behind it (at all, if `source` is no operand), and nobody looks at the memory
  /// beneath by offset.
  bool allows(const Node& node, NodeId source) const;
  /// Users of `node` read `source` from now on; the node stays, without users.
  void forward(Graph& graph, NodeId node, NodeId source);
  const AliasGroups& aliases() const { return m_aliases; }

 private:
  bool wouldAliasOutput(const Node& node, NodeId source) const;
  bool isWritten(const Node& node, NodeId source) const;
  bool lendsItsStorage(const Node& node) const;
  bool isGiven(NodeId node) const;

  const Graph& m_graph;
  AliasGroups m_aliases;
  std::vector<NodeId> m_storageReaders;
};

/// What the users of a call may read instead of it, if anything.
using StandIn = std::function<std::optional<NodeId>(NodeId, const Forwarding&)>;
/// Forwards, in the order of the graph, what may be; the calls stay, without users. Whether there was one.
bool forwardAll(Graph& graph, const StandIn& standIn);

/// Same dtype, sizes, strides and device.
bool sameTensorMeta(const Node& a, const Node& b);

}  // namespace kerf::inline passes
