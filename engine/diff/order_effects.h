// movedNodes(): pairs that stand in another order where order matters: writes into one memory among each other, reads
// of it before or after a write, and draws of random numbers and other effects among each other.
//
//     y = x + 1; x.copy_(z)   against   x.copy_(z); y = x + 1      →      y has moved: it reads another value
#pragma once

#include <vector>

#include "engine/diff/partners.h"

namespace kerf::inline diff {

/// Positions in the first graph, increasing. Pure nodes never move.
std::vector<int> movedNodes(const Partners& partners);

/// By position: whether a node takes what is written somewhere in the graph, so that its place decides what it sees.
std::vector<char> readsOfWrittenMemory(const ComparedGraph& graph);

}  // namespace kerf::inline diff
