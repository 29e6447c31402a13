#include "engine/ops/random/state.h"

namespace kerf::inline ops {

std::uint64_t RandomState::takeCudaOffset(std::uint64_t increment) {
  const std::uint64_t offset = cudaOffset;
  cudaOffset += (increment + 3) / 4 * 4;
  return offset;
}

RandomState& randomState() {
  thread_local RandomState state;
  return state;
}

void seedRandom(std::uint64_t seed) {
  RandomState& state = randomState();
  state.cpu.reseed(seed);
  state.cudaSeed = seed;
  state.cudaOffset = 0;
}

}  // namespace kerf::inline ops
