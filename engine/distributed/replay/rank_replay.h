// The graphs of several ranks run together in one process: collectives meet, and what each node gives may be kept.
#pragma once

#include <functional>

#include "engine/distributed/group/in_process.h"
#include "engine/ir/graph_module.h"
#include "engine/tensor/value.h"

namespace kerf::inline distributed::inline replay {

/// One rank's graph, with what it runs on. Ranks count from 0 in the order of a list of them.
struct RankProgram {
  GraphModule module;
  ValueList inputs;
};

struct ReplayedRank {
  ValueList outputs;
  std::vector<std::pair<std::string, Value>>
      nodes;  ///< in the order in which they ran; without placeholders and output
};

using NodeWatch = std::function<void(const Node&, const Value&)>;
/// Runs program `rank` on copies of its inputs and tells the watch of nodes, where it runs node by node.
using RankRunner = std::function<Result<Value>(std::size_t rank, const ValueList& inputs, const NodeWatch& watch)>;

struct ReplayOptions {
  std::vector<std::vector<Group>> groups;  ///< of each rank; empty: those that groupsNamedBy() finds
  bool keepsNodes = false;
  std::chrono::milliseconds timeout{30'000};  ///< of one collective
  RankStarter start = {};                     ///< what starts the ranks; empty: threads of this process
};

/// What ranks came to; nodes that ran before a failure are there too.
struct Replay {
  std::vector<ReplayedRank> ranks;
  Result<void> ran;  ///< the first cause where a rank fails
  int failedRank = -1;
};

/// Every rank in a thread of its own; the interpreter where no runner is given.
Replay replayRanks(const std::vector<RankProgram>& programs, const ReplayOptions& options,
                   const RankRunner& runner = {});

/// The process groups that graphs name: the ranks that use a name are its members, "0" is everyone. BadInput where a
/// call says that its group has another size.
Result<std::vector<std::vector<Group>>> groupsNamedBy(const std::vector<RankProgram>& programs);

}  // namespace kerf::inline distributed::inline replay
