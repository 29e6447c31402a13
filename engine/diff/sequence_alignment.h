// alignSequences(): which elements of two sequences of keys belong together, in order.
//
//     a b c d    x b d e      →      (1, 1), (3, 2)
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "engine/diff/compared_graph.h"

namespace kerf::inline diff {

/// Pairs of indices, both increasing. Keys that stand once on each side are anchors; what lies between them is a
/// shortest edit script where it is short, else its equal ends. Near-linear, whatever the sequences are.
std::vector<std::pair<int, int>> alignSequences(std::span<const Key> before, std::span<const Key> after);

/// Which positions belong to a longest increasing subsequence.
std::vector<bool> keepsOrder(std::span<const int> positions);

}  // namespace kerf::inline diff
