// How much tensor data this process may hold at once.
#pragma once

#include <cstdint>

namespace kerf::inline tensor {

/// Beyond what is live now and `bytes` more, allocations are refused (TooLarge). 0: only the machine's memory counts.
void limitLiveStorage(std::int64_t bytes);

}  // namespace kerf::inline tensor
