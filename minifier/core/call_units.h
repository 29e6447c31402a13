// Call units: the pieces that a search over sets of calls keeps or removes.
#pragma once

#include <memory>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline minifier::inline core {

/// A call, and the getitems that take apart what it makes, which are no use without it.
struct CallUnit {
  NodeId call;
  std::vector<NodeId> items;  ///< in the graph's order
};

/// All calls of `graph` (not placeholders, attributes, output) as units in execution order.
///
///     s = split(x, 2); a = s[0]; b = s[1]; c = add(a, b)      →      {s, a, b}, {c}
std::vector<CallUnit> callUnits(const Graph& graph);

/// Indices of units, rising.
using UnitSet = std::vector<std::size_t>;

/// The units that use values of each, rising; all of them come later.
std::vector<UnitSet> unitUsers(const Graph& graph, const std::vector<CallUnit>& units);

/// Call of a function, method or module.
bool isCallNode(const Node& node);
/// Calls in execution order.
std::vector<NodeId> callNodes(const Graph& graph);
/// A call that is there for what it does and not for its value: a copy_ that nobody reads.
bool isEffect(const Graph& graph, NodeId id);

/// A nested graph that a call is given.
struct NestedGraph {
  std::string path;
  std::shared_ptr<const GraphModule> graph;
};
/// The nested graphs that `call` names, as get_attr operands or by path, in the order of its arguments.
std::vector<NestedGraph> nestedGraphs(const GraphModule& module, const Node& call);
/// Calls of the graph and of all graphs nested in it, one that two calls are given twice.
std::size_t countCalls(const GraphModule& module);

}  // namespace kerf::inline minifier::inline core
