// Whether a replacement can stand in a graph: nothing that it is given may depend on what it gives in its place.
//
//     a = relu(x); y = exp(a); b = mul(a, y)      (a, b) → fused(x, y): a would come from y, and y from a
#pragma once

#include "engine/ir/graph_copy.h"
#include "engine/patterns/pattern_match.h"

namespace kerf::inline patterns {

/// Empty where it can; else why not. `values` are what the placeholders of `replacement` stand for in `graph`, whose
/// order must be topological; `results` are what it returns.
std::string orderProblem(const Graph& graph, const MatchedPattern& match, const Graph& replacement,
                         const NodeArguments& values, const ArgumentList& results);

}  // namespace kerf::inline patterns
