// How the graphs of a folder of ranks lie beside the graph of one rank: what `sharding.json` beside them says, what the
// caller says, and what sizes and values say of the rest.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/distributed/group/device_mesh.h"
#include "engine/distributed/sharding/placement.h"

namespace kerf::workbench {

struct RankSharding {
  DeviceMesh mesh;
  std::map<std::string, Placements> inputs;        ///< by name
  std::vector<std::string> asked;                  ///< inputs that the caller placed
  std::map<std::string, Placements> nodes;         ///< of calls, by name
  std::vector<std::optional<Placements>> outputs;  ///< in their order; empty: only nodes are known

  /// Of an input or a call; null where nothing is known.
  const Placements* find(const std::string& name) const;
  /// Of the stripes that are known.
  std::set<std::int64_t> splitFactors() const;
};

/// "x=S0" and "w=S(1),R" by input. BadUsage, naming the input, for other texts.
Result<std::map<std::string, Placements>> namedPlacements(const std::vector<std::string>& texts);

/// What is known of a folder of that many ranks. `mesh` and `placements` are what the caller says; where they contradict
/// the folder's file, its other placements are not used. BadUsage for a mesh of another number of ranks; BadInput for a
/// damaged file.
Result<RankSharding> shardingOfRanks(const std::filesystem::path& folder, int ranks, const Sizes& mesh,
                                     const std::vector<std::string>& placements);

/// The text of sharding.json: a mesh and nodes with their placements, those of inputs as "placeholder".
std::string shardingText(const RankSharding& sharding);

}  // namespace kerf::workbench
