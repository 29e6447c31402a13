// A kernel's nodes as a pattern: Inductor defines a kernel once and calls it for every part of the graph that looks the
// same, but writes the nodes of the first call only.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline capture {

/// The nodes of one call of a kernel. What else they read are leaves.
struct KernelNodes {
  std::vector<NodeId> nodes;     ///< in graph order, with the getitem nodes between them
  std::vector<NodeId> sinks;     ///< what it stores, or what nobody in it uses; in graph order
  std::vector<NodeId> finished;  ///< those of which an earlier kernel did the first half (split reductions)
};

/// What is known of a kernel's values.
struct KernelMemory {
  std::unordered_set<NodeId> loaded;    ///< read from memory; what only feeds them is not computed here
  std::vector<NodeId> stored;           ///< written; without any, the nodes that no other of the kernel uses
  bool storesOthers = false;            ///< it writes also what no name stands for
  std::unordered_set<NodeId> finished;  ///< begun by an earlier kernel: what feeds them was computed there
};

/// A call whose result looks at its first input.
bool isViewCall(const Node& node);

/// A graph with what the searches ask of it again and again.
class SearchedGraph {
 public:
  explicit SearchedGraph(const Graph& graph);
  const Graph& graph() const { return m_graph; }
  const Node& node(NodeId id) const { return m_graph.node(id); }
  /// Calls of a target, in graph order.
  const std::vector<NodeId>& callsOf(const std::string& target) const;
  void sort(std::vector<NodeId>& nodes) const;

 private:
  const Graph& m_graph;
  std::unordered_map<NodeId, std::size_t> m_position;
  std::unordered_map<std::string, std::vector<NodeId>> m_calls;
};

using NodeMapping = std::unordered_map<NodeId, NodeId>;

/// `nodes` without what the kernel does not compute itself: a fragment also shows how what it loads came to be.
KernelNodes kernelNodes(const SearchedGraph& graph, const std::vector<NodeId>& nodes, const KernelMemory& memory);

/// The first place in graph order, with sinks not in `taken`, where the same calls with the same constants stand:
/// pattern's nodes and leaves to theirs. `known` are leaves whose counterpart is known; so must `finished` nodes be.
std::optional<NodeMapping> findAgain(const SearchedGraph& graph, const KernelNodes& pattern, const NodeMapping& known,
                                     const std::unordered_set<NodeId>& taken);

}  // namespace kerf::inline capture
