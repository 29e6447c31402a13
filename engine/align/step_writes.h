// StaleValues: which values of a graph are no longer what they were, since a call writes into their memory later.
//
//     x: recorded; add_ = add_(x, 1); mul = mul(x, 2)      →      for mul, x is stale: add_ wrote into it
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline align {

class StaleValues {
 public:
  explicit StaleValues(const GraphModule& whole);

  struct Write {
    NodeId value, call;
  };
  /// A write into the memory of one of `values` by a call after it and before `node`, unless `runs(call)`. Views share
  /// their base's memory. Values of get_attr are those that the module holds: every write before counts.
  std::optional<Write> before(NodeId node, const std::vector<NodeId>& values,
                              const std::function<bool(NodeId)>& runs) const;

 private:
  void visit(const Node& node);
  void visitHigherOrder(const Node& node);
  void write(NodeId call, NodeId into);

  const GraphModule& m_whole;
  std::unordered_map<NodeId, std::size_t> m_places;           ///< in the graph's order
  std::unordered_map<NodeId, std::vector<NodeId>> m_bases;    ///< whose memory a value looks at
  std::unordered_map<std::string, NodeId> m_attributes;       ///< the first get_attr of each
  std::unordered_map<NodeId, std::vector<NodeId>> m_writers;  ///< of the memory of a base, in order
};

}  // namespace kerf::inline align
