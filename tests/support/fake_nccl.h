// What the NCCL that tests build and the driver that they put in place of CUDA's know of each other.
#pragma once

#include <atomic>

namespace kerf::testing_support {

/// A stream of the driver: how many collectives it has still to do.
struct FakeStream {
  std::atomic<int> pending{0};
};

/// An all_reduce of so many elements never ends, or says that another rank has failed.
constexpr unsigned long fakeHangs = 13, fakeFails = 17;
/// Rank 0 of it is done; that of rank 1 fails, or never ends.
constexpr unsigned long fakeBreaksOne = 19, fakeHangsOne = 23;

}  // namespace kerf::testing_support
