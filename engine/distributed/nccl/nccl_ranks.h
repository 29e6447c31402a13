// Ranks over NCCL: threads of this process with a device each, or the processes of another communicator.
#pragma once

#include "engine/distributed/group/in_process.h"
#include "engine/distributed/nccl/nccl_link.h"

namespace kerf::inline distributed::inline nccl {

/// Whether this process can run so many ranks over NCCL. Environment saying what is missing: NCCL, a driver, devices.
Result<void> canRunNccl(int ranks);

/// Runs the body as the rank that `control` is, on that device: its collectives go over NCCL.
Result<void> runRankOverNccl(Communicator& control, int device, const RankBody& body,
                             std::chrono::milliseconds timeout = std::chrono::seconds(30));

/// The same with a device and a NCCL that are given.
Result<void> runRankOverNccl(Communicator& control, const NcclDevice& device, const RankBody& body,
                             std::chrono::milliseconds timeout);

/// runRanks, with rank r on device r and its collectives over NCCL. Never before a fork. Environment, as every rank's
/// result, where this machine cannot.
std::vector<Result<void>> runRanksOverNccl(int ranks, const RankBody& body, const InProcessOptions& options = {});

}  // namespace kerf::inline distributed::inline nccl
