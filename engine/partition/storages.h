// Which nodes look at one memory, as PyTorch's fake tensors know it by their storages.
#pragma once

#include <vector>

#include "engine/ir/graph.h"

namespace kerf::inline partition {

/// Number of no storage: a tuple, a number, nothing known.
constexpr int noStorage = -1;

/// By index of node. A view has its base's storage, a getitem of a view its tuple's base's; others have one of their
/// own.
std::vector<int> storagesOf(const Graph& graph);

}  // namespace kerf::inline partition
