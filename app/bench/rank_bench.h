// Collectives over NCCL on this machine's devices, timed as torch.distributed's users time them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::bench {

struct CollectiveTimes {
  std::string nccl;  ///< "2.28.9"
  int ranks = 0;
  std::int64_t bytes = 0;       ///< of one rank's float32 tensor
  std::vector<double> ms = {};  ///< of one all_reduce, the mean of each round, on rank 0's device
  double medianMs = 0;
  double busGigabytes = 0;  ///< a second: 2 (n - 1) / n times the bytes, by the median (nccl-tests' "bus bandwidth")
};

/// `rounds` rounds of `calls` all_reduces in place, after a round that warms up. Every rank's sum is checked at the end
/// (RuntimeFailed). Environment where this machine lacks NCCL or devices.
Result<CollectiveTimes> timeAllReduce(int ranks, std::int64_t bytes, int rounds, int calls);

}  // namespace kerf::bench
