// How the ranks of one request reach each other.
#pragma once

#include <memory>

#include "engine/distributed/mpi/mpi_communicator.h"
#include "engine/distributed/replay/rank_replay.h"

namespace kerf::workbench {

struct RankWorld {
  std::string name = "threads";              ///< "nccl 2.28.9", "mpi"
  RankStarter start = {};                    ///< of compiled graphs; empty: threads of this process
  bool hasDevices = false;                   ///< ranks compile and run on a CUDA device each
  std::shared_ptr<MpiWorld> processes = {};  ///< where mpirun started the ranks and this process is one of them

  /// Whether this process runs that rank.
  bool hasRank(std::size_t rank) const { return !processes || std::size_t(processes->rank()) == rank; }
  /// CUDA device of a rank of this process.
  int deviceOf(std::size_t rank) const;
};

/// What the variable KERF_PROCESS_GROUP says: "threads", "nccl", or "auto", which is also what it says where it is not set.
/// BadUsage for anything else.
Result<std::string> chosenProcessGroup();

/// The chosen one; `auto`: NCCL where `wantsDevices` and this machine has it and a device for each rank, else threads. Asks the
/// CUDA driver: never before a fork. Environment where NCCL is chosen and cannot be.
Result<RankWorld> rankWorld(bool wantsDevices, int ranks, std::chrono::milliseconds timeout = std::chrono::seconds(30));

/// Processes that mpirun started, over MPI; compiled graphs over NCCL as above, where every process has a device. BadUsage
/// where they are not as many as the ranks. `timeout` is that of one collective. Such a process must not be forked.
Result<RankWorld> mpiRankWorld(bool wantsDevices, int ranks, std::chrono::milliseconds timeout);
/// With kerf_mpi.so beside this program.
Result<std::unique_ptr<MpiWorld>> openOwnMpi(std::chrono::milliseconds timeout);

/// replayRanks over the world: `runner` where the world starts compiled graphs, else the interpreter. What all ranks gave
/// is in every process.
Replay replayOver(const RankWorld& world, const std::vector<RankProgram>& programs, ReplayOptions options,
                  const RankRunner& runner = {});

}  // namespace kerf::workbench
