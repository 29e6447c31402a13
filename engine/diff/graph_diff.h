// Graph diff: which nodes of two graphs are the same computation, and what happened to them on the way: rewritten,
// called with other arguments, given another shape, renamed, moved where order matters.
//
//     y = layer_norm(x)          var_mean …          (one rewrite of one node into nine)
//     z = relu(y)                z = relu(add_1)     (the same: its operand is what layer_norm became)
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/diff/partners.h"
#include "engine/diff/recorded_origins.h"
#include "engine/diff/rewrites.h"
#include "engine/ir/graph_module.h"

namespace kerf::inline diff {

/// One node of either graph, a matched pair, or a line of a rewrite.
struct NodeDelta {
  NodeId before, after;  ///< invalid: not in that graph
  int rewrite = -1;      ///< index in GraphDiff::rewrites: `before` and `after` only stand beside each other
  Evidence evidence = Evidence::None;  ///< of a pair
  bool renamed = false;                ///< same computation under another name
  bool moved = false;                  ///< stands at another place among the matched nodes, and order matters there
  bool callChanged = false;            ///< op, target or arguments differ, after what nodes became is taken as equal
  bool metaChanged = false;            ///< both values are known and differ in dtype, shape, strides or device
  bool given = false;                  ///< computed in one graph, an input of the other
  bool gradient = false;  ///< only one graph has it and gradients at all, and it stands where those are computed
  bool rewritten() const { return rewrite >= 0; }
  bool removed() const { return !after.valid() && !rewritten(); }
  bool added() const { return !before.valid() && !rewritten(); }
  bool same() const {
    return !removed() && !added() && !rewritten() && !renamed && !moved && !callChanged && !metaChanged && !given;
  }
};

/// What nodes became that have no partner of their own.
struct Rewrite {
  FoundRewrite::Kind kind = FoundRewrite::Kind::Rewritten;
  std::vector<NodeId> before, after;
  Evidence evidence = Evidence::None;
};

/// How often an op is called, under its name without overload.
struct OpCount {
  std::string op;
  int before = 0, after = 0;
};

struct GraphDiff {
  /// Every node of both graphs: in the order of `after`, with removed nodes where they stood.
  std::vector<NodeDelta> nodes;
  std::vector<Rewrite> rewrites;
  std::vector<OpCount> ops;  ///< that differ, by name
  bool same() const;
  std::size_t count(bool (NodeDelta::*predicate)() const) const;
  std::size_t count(bool NodeDelta::* flag) const;
};

/// Matches, strongest evidence first: what the compiler recorded, structure (the same call of matched inputs, the same
/// use by matched users), decompositions along source lines, places and source lines, names of equal ops. What is left
/// between matched nodes is a rewrite where both sides take the same values; else it was removed, or added.
GraphDiff diffGraphs(const Graph& before, const Graph& after, const RecordedOrigins& recorded = {});

/// diffGraphs for a module and all nested graphs that either has, by path ("" is the module itself). A nested graph
/// that only one side has is compared with an empty one.
std::vector<std::pair<std::string, GraphDiff>> diffModules(const GraphModule& before, const GraphModule& after,
                                                           const RecordedOrigins& recorded = {});

}  // namespace kerf::inline diff
