// Graph diff: which nodes of two graphs are the same computation, and what happened to them on the way: renamed, moved,
// called with other arguments, given another shape. Nodes are matched by name, then by target and matched arguments.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline ir {

/// One node of either graph, or a matched pair.
struct NodeDelta {
  NodeId before, after;      ///< invalid: not in that graph
  bool renamed = false;      ///< same computation under another name
  bool moved = false;        ///< stands at another place among the matched nodes
  bool callChanged = false;  ///< op, target or arguments differ, after matched nodes are taken as equal
  bool metaChanged = false;  ///< both values are known and differ in dtype, shape, strides or device
  bool removed() const { return !after.valid(); }
  bool added() const { return !before.valid(); }
  bool same() const { return !removed() && !added() && !renamed && !moved && !callChanged && !metaChanged; }
};

struct GraphDiff {
  /// Every node of both graphs: in the order of `after`, with removed nodes where they stood.
  std::vector<NodeDelta> nodes;
  bool same() const;
  std::size_t count(bool (NodeDelta::*predicate)() const) const;
  std::size_t count(bool NodeDelta::*flag) const;
};

/// Matches in this order: nodes with equal name, op, target and arguments; nodes of any name with equal target whose
/// arguments are all matched to each other; nodes of equal name and op; arguments of matched calls that stand at the
/// same place and have the same target. The second step is repeated after each of the later ones.
GraphDiff diffGraphs(const Graph& before, const Graph& after);

/// diffGraphs for a module and all nested graphs that either has, by path ("" is the module itself). A nested graph
/// that only one side has is compared with an empty one.
std::vector<std::pair<std::string, GraphDiff>> diffModules(const GraphModule& before, const GraphModule& after);

}  // namespace kerf::inline ir
