// gradientHalf(): the part of a joint or backward graph that computes gradients.
//
//     primals_1, tangents_1;  relu = …;  le = le(relu, 0);  mul = mul(tangents_1, …);  return (relu, mul)   →   le, mul
#pragma once

#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline diff {

/// The calls from the first one that takes a tangent on, as AOTAutograd traces: forward first; and what only those
/// take. In order; empty for a graph without tangents.
std::vector<NodeId> gradientHalf(const Graph& graph);

/// Of that half, what computes the gradients of these forward nodes: calls from their source lines, from one on that
/// takes what they compute or take, up to one that takes another forward value. A view, whose gradient takes neither,
/// has none; where neighbours of one line share a value, both count.
std::vector<NodeId> gradientsOf(const Graph& graph, const std::vector<NodeId>& forward);

}  // namespace kerf::inline diff
