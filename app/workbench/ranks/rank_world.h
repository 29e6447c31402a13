// How the ranks of one request reach each other.
#pragma once

#include "engine/distributed/group/communicator.h"

namespace kerf::workbench {

struct RankWorld {
  std::string name = "threads";  ///< "nccl 2.28.9"
  RankStarter start = {};        ///< empty: threads of this process
  bool hasDevices = false;       ///< rank r compiles and runs on CUDA device r
};

/// What the variable KERF_PROCESS_GROUP says: "threads", "nccl", or "auto", which is also what it says where it is not set.
/// BadUsage for anything else.
Result<std::string> chosenProcessGroup();

/// The chosen one; `auto`: NCCL where `wantsDevices` and this machine has it and a device for each rank, else threads. Asks the
/// CUDA driver: never before a fork. Environment where NCCL is chosen and cannot be.
Result<RankWorld> rankWorld(bool wantsDevices, int ranks, std::chrono::milliseconds timeout = std::chrono::seconds(30));

}  // namespace kerf::workbench
