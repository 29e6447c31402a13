// MatchedPattern: one place of a graph that a pattern fits, and how far a pattern got where it does not fit.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/patterns/pattern_expr.h"

namespace kerf::inline patterns {

struct MatchedPattern {
  std::vector<NodeId> nodes;    ///< matched calls, operands before their users
  std::vector<NodeId> outputs;  ///< by result of the pattern; invalid where the pattern has none
  std::vector<std::pair<std::string, Argument>> named;  ///< what each keyword argument stands for
  std::vector<Argument> positional;

  /// Null for a name that the pattern does not have.
  const Argument* find(std::string_view name) const;
};

/// The first thing that kept a pattern from fitting.
struct Mismatch {
  NodeId node;              ///< where it was seen; the node that was tried, where a number stood instead of a node
  std::string reason;       ///< "div is aten.mul.Tensor, the pattern has aten.div.Tensor"
  std::size_t matched = 0;  ///< calls of the pattern that were there until then, by op and number of users
};

/// Tries `pattern` at `node`, which stands for its (first) result.
std::expected<MatchedPattern, Mismatch> matchPattern(const Graph& graph, const Pattern& pattern, NodeId node);

/// Equal values as Python compares them: 1 and 1.0, a list and a tuple of the same items.
bool sameLiteral(const Argument& a, const Argument& b);

}  // namespace kerf::inline patterns
