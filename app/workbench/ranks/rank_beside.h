// Graphs of ranks that are cut beside the graph of one rank: what calls may be replaced by, and how the rest is placed.
#pragma once

#include "app/workbench/ranks/rank_sharding.h"
#include "engine/distributed/replay/minify_ranks.h"

namespace kerf::workbench {

/// The placements of results as those of the nodes that they are, so that they are known when other results are left.
void nameOutputs(const Graph& ofRank, RankSharding& sharding);

/// Of the programs of all ranks and then of the whole graph: what each call gives in the whole graph, and the ranks' parts
/// of that. Only calls that both have and whose placements are known, or are told by what the ranks give: a wrong value
/// never becomes an input.
Result<std::vector<ValuesByCall>> valuesBeside(const std::vector<RankProgram>& programs, const RankSharding& sharding);

/// The part of the sharding that is about the nodes of a rank's graph.
RankSharding shardingOfNodes(const Graph& ofRank, const RankSharding& sharding);

}  // namespace kerf::workbench
