// gradientHalf(): the part of a joint or backward graph that computes gradients.
//
//     primals_1, tangents_1;  relu = …;  le = le(relu, 0);  mul = mul(tangents_1, …);  return (relu, mul)      →      mul, …
#pragma once

#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline diff {

/// The calls from the first one that takes a tangent on, as AOTAutograd traces: forward first. In order; empty for a
/// graph without tangents.
std::vector<NodeId> gradientHalf(const Graph& graph);

}  // namespace kerf::inline diff
