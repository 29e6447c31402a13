// FakeRank: one rank of a world that has no others: PyTorch's process groups of backend "fake", for looking at what a
// program of many ranks does on one of them. Every other rank is taken to bring what this one brings.
#pragma once

#include <memory>

#include "engine/distributed/processes/shared_world.h"

namespace kerf::inline torch_distributed {

/// Most ranks of such a world: a gather has as many tensors.
inline constexpr int mostFakeRanks = 4096;

/// BadInput for a rank that the world does not have, or more ranks than that. What nobody sends is not there to receive.
Result<std::unique_ptr<SharedRank>> fakeRank(int rank, int worldSize);

}  // namespace kerf::inline torch_distributed
