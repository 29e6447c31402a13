// What passes need to know of a node before they touch it: purity, randomness, and which nodes share memory.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline passes {

/// The op row of a call_function node; null for other opcodes and unknown ops.
const OpInfo* opOf(const Node& node);
/// Whether the result of a call may look at the memory of its operands: of a view, a getitem, an op without a row.
bool mayGiveView(const Node& node);
/// Same inputs, same result, nothing else happens: may be merged with an equal call or computed ahead of time.
bool isPureCall(const Node& node);
/// Must stay even without users: mutation, asserts, random ops (they move the generator on), unknown ops, submodules.
bool mustStay(const Node& node);
/// Whether the output node mentions `node`.
bool isReturned(const Graph& graph, NodeId node);

/// Groups of nodes that may share memory, and whether somebody writes into a group.
///
///     view = view(x); add_ = add_(view, 1)      →      {x, view, add_} is one group, and it is mutated
///
/// Nodes that are made later are groups of their own until they are united with others.
class AliasGroups {
 public:
  explicit AliasGroups(const Graph& graph);
  /// Whether memory that `node` looks at is written anywhere in the graph.
  bool mutated(NodeId node) const;
  /// Whether it is written by `call` or behind it, in the order of the graph as it was.
  bool writtenFrom(NodeId node, const Node& call) const;
  /// Whether the two may look at the same memory. Never proof that they do: view_as(x, y) joins x and y.
  bool together(NodeId a, NodeId b) const { return root(a) == root(b); }
  /// Whether memory that `node` looks at is returned, by itself or by one of its views.
  bool returned(NodeId node) const;
  /// Whether `node` or one of its inputs is mutated: moving, merging or forwarding it would not be safe.
  bool touchesMutation(const Node& node) const;
  /// The two look at the same memory from now on, as when `b` stands in for `a`.
  void unite(NodeId a, NodeId b);

 private:
  std::size_t root(NodeId node) const;
  void join(NodeId a, NodeId b);
  void joinCall(const Node& node);
  void markWritten(NodeId memory, const Node& call);
  void grow(std::size_t index);
  /// By node: its place in the graph's order, from 1.
  std::vector<std::uint32_t> m_places;
  mutable std::vector<std::size_t> m_parent;
  std::vector<std::uint32_t> m_lastWrite;  ///< by root, once the constructor is done: place of the call; 0: none
  std::vector<bool> m_returned;            ///< by root
};

/// Appends the names that `from` (or `from` itself) came from to the provenance of `to`.
void mergeProvenance(Graph& graph, const Node& from, NodeId to);
/// Provenance of a node: its fromNodes, or its own name.
std::vector<std::string> provenance(const Node& node);

}  // namespace kerf::inline passes
