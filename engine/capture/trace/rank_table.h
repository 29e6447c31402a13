// Ranks beside each other: what each did under each compile id, and where they went apart.
#pragma once

#include "engine/capture/trace/compile_log.h"

namespace kerf::inline capture {

/// A difference between ranks: "different graph" at "[0/2]", between 0, 2 and 1.
struct RankDivergence {
  std::string kind;  ///< "missing compilation", "different graph", "different guards", "different recompile reason",
                     ///< "different collective schedule", "missing cache hit", "different tensors", "skewed run time",
                     ///< "skewed compile time", "different order of execution", "missing waits"
  std::string id;    ///< compile id; empty for what concerns whole ranks
  /// Ranks that agree, the most common first, each with what they have.
  std::vector<std::pair<std::vector<int>, std::string>> groups;

  /// Ranks that do not do as most: those of all groups but the first.
  std::vector<int> odd() const;
};

struct RankRow {
  std::string id;
  std::vector<std::int64_t> compiles;  ///< by rank: index in CompileLog::compiles, -1: none
};

struct RankTable {
  std::vector<int> ranks;  ///< ascending
  std::vector<RankRow> rows;
  std::vector<RankDivergence> divergences;
};

/// Empty unless the log has at least two ranks.
RankTable rankTable(const CompileLog& log, const CaptureDetails& details);

/// "rank 1", "ranks 0, 2 and 3".
std::string ranksText(const std::vector<int>& ranks);

}  // namespace kerf::inline capture
