// Where two recorded stages part: nodes are mapped by what they compute, and the node at which a value first has no
// counterpart is named.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/verification/value_print.h"

namespace kerf::inline verification {

/// A graph that has run.
struct PrintedGraph {
  const GraphModule* module = nullptr;
  const std::vector<ValuePrint>* prints = nullptr;  ///< by NodeId::index

  const ValuePrint& print(NodeId id) const;
};

/// Counterparts of a graph's nodes among those of another: equal values, of equal names where several are equal.
using NodeMap = std::map<NodeId, NodeId>;

/// Values that are no further apart than `tolerance` (relative, as distance()) are equal. Placeholders belong to each
/// other by value too.
NodeMap mapNodes(const PrintedGraph& before, const PrintedGraph& after, double tolerance);

struct ChangedNode {
  std::string node;    ///< of the later graph; empty: none was found
  std::string call;    ///< what it is there
  std::string before;  ///< its counterpart by name or place in the earlier graph; empty: there is none
  std::string callBefore;
  std::vector<std::string> others;  ///< more nodes where a value without counterpart begins, in graph order
  bool found() const { return !node.empty(); }
};

/// The first node, in graph order, with these properties: its operands have counterparts, it has none itself, and one
/// of the returned items `different` depends on it through nodes without counterparts. With `relaxed`, for graphs of
/// unlike ops, nodes that only reorder an operand's elements count as having one. An item that does have a counterpart,
/// but another one than the earlier graph returns there, makes the output node the changed one.
/// `known` are more nodes that have counterparts (in a third graph).
ChangedNode findChangedNode(const PrintedGraph& before, const PrintedGraph& after, const NodeMap& map,
                            const std::vector<NodeId>& different, bool relaxed, double tolerance,
                            const std::set<NodeId>& known = {});

/// For graphs that mean the same and round differently: prints of their runs in fp64 and in the recorded dtypes. The
/// first node on which `different` depend that has another dtype than the node of its name in the earlier graph; else
/// the first whose own error is `factor` times larger than its counterpart's and than `floor`.
ChangedNode findRoundingNode(const std::array<PrintedGraph, 2>& before, const std::array<PrintedGraph, 2>& after,
                             const NodeMap& map, const std::vector<NodeId>& different, double factor, double floor);

}  // namespace kerf::inline verification
