// The ranks of a world as processes that mpirun started. MPI itself is in kerf_mpi.so, opened when it is needed: without
// it, and without MPI on the machine, everything else runs.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/distributed/group/communicator.h"

namespace kerf::inline distributed::inline mpi {

struct KerfMpiTransport;

/// How many processes mpirun started with this one, told from its environment; 1 where it started none.
int startedByMpirun();

/// The number of this process among those that mpirun started on this machine; 0 where it started none.
int placeOnThisMachine();

/// This process as a rank of MPI's world.
class MpiWorld : public Communicator {
 public:
  /// Runs the body as this rank, and gives what all ranks came to, by rank and in every process; all run the same bodies
  /// in the same order. A rank that ends, with an error or without, ends the waiting of those that need it. However long
  /// the others take, it waits for them: mpirun ends all when one dies.
  virtual std::vector<Result<void>> run(const RankBody& body) = 0;
};

/// This process, or thread, as a rank over a transport that outlives it.
std::unique_ptr<MpiWorld> mpiWorldOver(const KerfMpiTransport& transport, std::chrono::milliseconds timeout);

/// MPI is set up with the first one and torn down when the process ends. Messages that do not come within `timeout` are
/// errors that name who is missing. `folders` are where kerf_mpi.so may be. Environment where it is not there or MPI does
/// not start.
Result<std::unique_ptr<MpiWorld>> openMpiWorld(const std::vector<std::filesystem::path>& folders,
                                               std::chrono::milliseconds timeout = std::chrono::seconds(30));

}  // namespace kerf::inline distributed::inline mpi
