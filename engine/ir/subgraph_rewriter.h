// replacePattern: finds every place where a pattern graph occurs and puts a replacement graph there.
// Before: %add = aten.add(%x, %y); %relu = aten.relu(%add)      (pattern: add then relu of two wildcards)
// After:  %add_relu = my.add_relu(%x, %y)
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline ir {

/// One replaced occurrence.
struct PatternMatch {
  /// Pattern node → the node it matched (placeholders of the pattern → the node the wildcard stood for). Nodes that
  /// were replaced are gone from the graph.
  std::unordered_map<NodeId, NodeId> nodes;
  std::vector<NodeId> replacements;  ///< new nodes, in order
};

/// One occurrence of `pattern` that findPattern saw, not yet replaced.
using PatternNodes = std::unordered_map<NodeId, NodeId>;

/// Occurrences in execution order, without overlaps. Wildcards are the pattern's placeholders: one stands for any one
/// node. Ops, targets, literal arguments and keyword arguments must be equal. Values inside an occurrence must not be
/// used outside of it, except those that the pattern returns. BadUsage if the pattern returns no computed value.
Result<std::vector<PatternNodes>> findPattern(const Graph& graph, const Graph& pattern);

/// torch.fx.replace_pattern: both graphs take the same inputs and return equally many values; BadUsage otherwise.
/// The graph stays in topological order; names are chosen as FX chooses them for copied nodes.
Result<std::vector<PatternMatch>> replacePattern(Graph& graph, const Graph& pattern, const Graph& replacement);

}  // namespace kerf::inline ir
