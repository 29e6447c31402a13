// The graphs of a folder of ranks, ready to run together.
#pragma once

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/ranks/rank_sharding.h"
#include "engine/distributed/replay/rank_replay.h"

namespace kerf::workbench {

struct RankSources {
  std::vector<RunnableGraph> sources;  ///< by rank
  std::vector<RankProgram> programs;
};

/// The files' graphs of that name; empty: each file's only one. Missing data is made up for each rank by itself.
Result<RankSources> rankSources(Workbench& bench, const GraphAddress& address, const std::string& graph,
                                const Job& job);
/// Names of all graphs of rank 0's file, in its order, with their compile ids and stages.
struct RankStage {
  std::string name, compileId, stage;
};
Result<std::vector<RankStage>> stagesOfRanks(const std::filesystem::path& folder);

/// Gives the ranks their parts of the whole graph's inputs, and notes the placements that sizes told. ShapeMismatch,
/// naming the input, where their sizes are not those of parts; BadUsage where the caller placed an input that is not
/// there.
Result<void> takePartsOf(const RunnableGraph& whole, RankSharding& sharding, std::vector<RankProgram>& programs);

/// The first thing that differs between what ranks gave twice, by `isSame`; empty: nothing.
std::string firstOfRanks(const std::vector<ReplayedRank>& before, const std::vector<ReplayedRank>& after);

}  // namespace kerf::workbench
