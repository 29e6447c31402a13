// ComparedGraph: a graph as arrays by position, with what a node computes, yields and stems from as 64-bit keys.
//
//     add: add = aten.add.Tensor(relu, 2)  # File: model.py:7 in forward, code: y = relu(x) + 2
//       label: the op and its constants; op: the op alone; value: dtype and shape; origin: model.py, forward, the code
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline diff {

using Key = std::uint64_t;

/// Order-dependent combination of two keys.
Key mixed(Key a, Key b);

/// One mention of a node among the arguments of another.
struct Use {
  int node = 0;  ///< position of the user
  int slot = 0;  ///< how many nodes its arguments mention before
};

/// Ops of one meaning count as one: aten.view, aten.reshape and aten._unsafe_view; aten.relu and aten.relu_.
std::string opFamily(const Node& node);
/// What a call is called in any dialect: "layer_norm" of torch.nn.functional.layer_norm, "add" of operator.iadd and
/// aten.add.Tensor, "permute" of the method.
std::string baseName(const Node& node);

class ComparedGraph {
 public:
  explicit ComparedGraph(const Graph& graph);

  int size() const { return int(m_ids.size()); }
  const Graph& graph() const { return m_graph; }
  NodeId id(int at) const { return m_ids[std::size_t(at)]; }
  const Node& node(int at) const { return *m_nodes[std::size_t(at)]; }
  int at(NodeId id) const { return m_positions[id.index]; }
  /// Positions of the nodes that the arguments mention, by slot; one that is mentioned twice stands there twice.
  std::span<const int> inputs(int at) const;
  std::span<const Use> users(int at) const;

  Key label(int at) const { return m_labels[std::size_t(at)]; }    ///< op family and constants
  Key op(int at) const { return m_ops[std::size_t(at)]; }          ///< op family
  Key value(int at) const { return m_values[std::size_t(at)]; }    ///< dtype and shape; 0 if unknown
  Key origin(int at) const { return m_origins[std::size_t(at)]; }  ///< file, function, code, module; 0 if unknown
  bool isPlaceholder(int at) const { return node(at).op() == Opcode::Placeholder; }
  bool isOutput(int at) const { return node(at).op() == Opcode::Output; }
  bool isAttribute(int at) const { return node(at).op() == Opcode::GetAttr; }
  bool isInner(int at) const { return !isPlaceholder(at) && !isOutput(at); }

 private:
  void addKeys();
  void addEdges();

  const Graph& m_graph;
  std::vector<NodeId> m_ids;
  std::vector<const Node*> m_nodes;
  std::vector<int> m_positions;  ///< by NodeId::index
  std::vector<int> m_inputs, m_inputBegin, m_userBegin;
  std::vector<Use> m_users;
  std::vector<Key> m_labels, m_ops, m_values, m_origins;
};

}  // namespace kerf::inline diff
