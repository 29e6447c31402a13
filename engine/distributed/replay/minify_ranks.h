// The graphs of all ranks cut down together, to the smallest that still fail in the same way.
#pragma once

#include <map>
#include <span>
#include <stop_token>

#include "engine/distributed/replay/rank_replay.h"

namespace kerf::inline distributed::inline replay {

/// How the ranks fail together: "mismatch: …", "values: …"; empty where they do not.
using RanksOracle = std::function<Result<std::string>(const std::vector<RankProgram>& programs)>;

/// What nodes gave, by name.
using ValuesByCall = std::map<std::string, Value>;

struct RanksSearch {
  int mostTests = 2000;
  std::stop_token stop = {};
  /// What calls may be replaced by, for every program; empty: what they give when the ranks run.
  std::function<Result<std::vector<ValuesByCall>>(const std::vector<RankProgram>& programs)> values = {};
  /// The last program is no rank but the graph of one rank, beside which the others fail: only what all of them have is
  /// cut, and it counts no calls.
  bool hasWhole = false;
  std::function<void(std::size_t nodes, int tests)> onStep = {};  ///< of every smaller set that still fails
};

struct SmallestRanks {
  std::vector<RankProgram> programs;
  std::string failure;
  std::size_t startNodes = 0, nodes = 0;  ///< calls of all ranks
  int tests = 0;
  bool isMinimal = false;  ///< no call can be made an input any more, on all ranks, and no result left out
};

/// Calls become inputs with the values that they had, results are left out, and what is then not needed goes: on every
/// rank the nodes of the same names. BadInput where the ranks do not fail.
Result<SmallestRanks> minifyRanks(const std::vector<RankProgram>& start, const RanksOracle& oracle,
                                  const RanksSearch& search = {});

/// How many calls they have.
std::size_t callsOf(std::span<const RankProgram> programs);

}  // namespace kerf::inline distributed::inline replay
