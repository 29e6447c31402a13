// What recordings of several ranks ask for, and how much of it comes out the same.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/distributed/group/communicator.h"
#include "engine/support/result.h"

namespace kerf::inline distributed::inline recorded {

enum class RanksField : std::uint8_t { Values, Gradients, Placements, LocalShapes, Collectives, Refusals };
inline constexpr std::array<std::string_view, 6> ranksFieldNames{"values",       "gradients",   "placements",
                                                                 "local_shapes", "collectives", "refusals"};

struct RanksTally {
  int asked = 0, equal = 0;
};

struct RanksDifference {
  std::string id, field, text;
};

/// What the ranks of recorded cases run on.
struct RecordedWorld {
  RankStarter start = {};  ///< empty: threads of this process
  /// Not 0: modules alone, on a mesh of so many ranks, against the same on threads.
  int ranks = 0;

  std::vector<Result<void>> run(int count, const RankBody& body) const;
};

struct RanksReport {
  RecordedWorld world = {};
  int cases = 0;
  std::array<RanksTally, ranksFieldNames.size()> fields = {};
  std::vector<RanksDifference> differences = {};

  /// `difference` is empty where it is equal.
  void note(const std::string& id, RanksField field, const std::string& difference);
  /// Whether ranks that ran have results to compare. Notes whether they refused what PyTorch did, and that they fail.
  bool ran(const std::string& id, bool isRefused, const Result<void>& outcome,
           const std::function<std::string()>& refusalDifference);
  bool allEqual() const { return differences.empty(); }
};

}  // namespace kerf::inline distributed::inline recorded
