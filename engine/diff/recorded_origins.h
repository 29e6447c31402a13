// RecordedOrigins: what the compiler itself wrote down of where nodes came from: Inductor's provenance maps of a log,
// and NodeMeta::fromNodes of what Kerf's own stages and passes made.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline diff {

/// Names of the first graph, each with the names of the second one that it became.
using RecordedOrigins = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Of nodes whose fromNodes name nodes of `before`, where that is the graph as it was captured. Nodes that compute
/// gradients are not what their forward node became.
RecordedOrigins recordedOrigins(const Graph& before, const Graph& after);

/// Name of the forward node whose gradient a node of a joint graph computes; empty where that is not recorded.
std::string forwardNodeOf(const Node& node);

}  // namespace kerf::inline diff
