// The ranks of a world as threads of this process: for tests, simulated meshes, replays and minifying.
#pragma once

#include "engine/distributed/group/communicator.h"

namespace kerf::inline distributed::inline group {

struct InProcessOptions {
  std::chrono::milliseconds timeout{30'000};  ///< of one collective
};

/// Runs `body` once for each rank, each in a thread of its own, and gives what they gave, by rank. A rank that ends,
/// with an error or without, ends the waiting of those that need it.
std::vector<Result<void>> runRanks(int ranks, const RankBody& body, const InProcessOptions& options = {});

/// What the body gives; Internal where it throws, so that the others hear of it.
Result<void> guardedRank(const RankBody& body, Communicator& member);

/// The first error that is no consequence of another rank's; the first of all where each is; success where none is.
Result<void> firstCause(const std::vector<Result<void>>& results);

}  // namespace kerf::inline distributed::inline group
