// Cutting pieces out of a candidate: the nodes kept get recorded values for what they no longer compute.
#pragma once

#include <unordered_set>
#include <vector>

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline core {

using NodeSet = std::unordered_set<NodeId>;

/// Calls in execution order: what reductions count, keep and remove (not placeholders, attributes, output).
std::vector<NodeId> callNodes(const Graph& graph);

/// Only `kept` (calls): their operands from outside become placeholders with recorded values, and whatever others used
/// of them, or nobody uses, becomes an output.
///
///     a = f(x); b = g(a); c = h(b)   keep {b}   →   b = g(a), a a placeholder, b the output
std::optional<Candidate> keepOnly(const ReductionInput& input, const std::vector<NodeId>& kept);

/// Without `removed` (calls): those that others still use become placeholders with recorded values; outputs among them
/// are dropped. If no output would be left, what fed the removed nodes is returned instead.
///
///     a = f(x); b = g(a); c = h(b)   remove {b}   →   c = h(b), b a placeholder
std::optional<Candidate> removeNodes(const ReductionInput& input, const std::vector<NodeId>& removed);

}  // namespace kerf::inline minifier::inline core
