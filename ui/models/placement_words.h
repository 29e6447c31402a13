// PlacementWords: why a node of a sharded graph is placed as it is.
#pragma once

#include "ui/session/documents.h"

namespace kerf::ui::inline models {

/// In sentences. `graph` has the node; its inputs' placements tell which operand was moved.
QStringList whyPlaced(const GraphDoc& graph, const ShardingDoc& sharding, const workbench::ShardedNodeDoc& node);

/// Input (node of the graph) that each move of a call is of; -1 where the placements leave that open: several inputs have
/// the one that is moved from, and not all of them are moved.
std::vector<int> movedInputs(const GraphDoc& graph, const ShardingDoc& sharding, const workbench::ShardedNodeDoc& node);

}  // namespace kerf::ui::inline models
