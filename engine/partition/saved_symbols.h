// Sizes that the backward graph needs: the symbols in the shapes of what it gets, each bound by a node of its own.
#pragma once

#include "engine/partition/joint_graph.h"

namespace kerf::inline partition {

/// `saved` and the tangents mention symbols; each that a placeholder of the joint graph binds and that is not in
/// `symbols` yet is added. Result: places of symbolic values, those that bind a symbol before those computed from
/// symbols.
std::vector<int> withBoundSymbols(const JointGraph& joint, const std::vector<int>& symbols,
                                  const std::vector<int>& saved);

}  // namespace kerf::inline partition
