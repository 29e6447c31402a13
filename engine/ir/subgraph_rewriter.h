// replacePattern: finds every place where a pattern graph occurs and puts a replacement graph there.
// Before: %add = aten.add(%x, %y); %relu = aten.relu(%add)      (pattern: add then relu of two wildcards)
// After:  %add_relu = my.add_relu(%x, %y)
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline ir {

/// Pattern node → the node it matched (placeholders of the pattern → the node the wildcard stood for).
using PatternNodes = std::unordered_map<NodeId, NodeId>;

/// One occurrence of a pattern, not yet replaced.
struct PatternOccurrence {
  PatternNodes nodes;
  /// Wildcards that stand for something else than a node: a number, a list, None.
  std::unordered_map<NodeId, Argument> literals;

  /// What a wildcard of the pattern stands for; None for one that nothing determined.
  Argument of(NodeId wildcard) const;
};

/// Whether an occurrence counts (torch.fx's match_filters).
using MatchFilter = std::function<bool(const PatternOccurrence&, const Graph& graph, const Graph& pattern)>;

struct MatchOptions {
  bool wildcardsMatchLiterals = false;    ///< a wildcard may stand for any argument, not for nodes alone
  bool ignoresLiterals = false;           ///< constants of the pattern stand for any constant
  std::vector<MatchFilter> filters = {};  ///< all must hold
};

/// One replaced occurrence.
struct PatternMatch {
  PatternNodes nodes;                ///< as in PatternOccurrence; nodes that were replaced are gone from the graph
  std::vector<NodeId> replacements;  ///< new nodes, in order
};

/// Occurrences in execution order, without overlaps. Wildcards are the pattern's placeholders: one stands for the same
/// node or argument wherever it is used. Ops, targets, literal arguments and keyword arguments must be equal. Values
/// inside an occurrence must not be used outside of it, except those that the pattern returns. BadUsage if the pattern
/// returns no computed value.
Result<std::vector<PatternOccurrence>> findPattern(const Graph& graph, const Graph& pattern,
                                                   const MatchOptions& options = {});

/// The graph to put in the place of an occurrence; it takes the pattern's inputs and returns as many values.
using ReplacementOf = std::function<Result<Graph>(const PatternOccurrence&, const Graph& graph, const Graph& pattern)>;

/// torch.fx.replace_pattern: both graphs take the same inputs and return equally many values; BadUsage otherwise.
/// The graph stays in topological order; names are chosen as FX chooses them for copied nodes.
Result<std::vector<PatternMatch>> replacePattern(Graph& graph, const Graph& pattern, const Graph& replacement,
                                                 const MatchOptions& options = {});
/// torch.fx.replace_pattern_with_filters with a replacement_callback: each occurrence gets a graph of its own.
Result<std::vector<PatternMatch>> replacePattern(Graph& graph, const Graph& pattern, const ReplacementOf& replacement,
                                                 const MatchOptions& options = {});

}  // namespace kerf::inline ir
