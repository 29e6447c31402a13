// The ranks of a world as processes that mpirun started. The only file that knows MPI.
#pragma once

#include <memory>

#include "engine/distributed/group/communicator.h"

namespace kerf::inline distributed::inline mpi {

/// This process as a rank of MPI's world; MPI is set up with the first one and torn down when the process ends. Messages
/// that do not come within `timeout` are errors that name who is missing. Environment where MPI does not start.
Result<std::unique_ptr<Communicator>> openMpiWorld(std::chrono::milliseconds timeout = std::chrono::seconds(30));

}  // namespace kerf::inline distributed::inline mpi
