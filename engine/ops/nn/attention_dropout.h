// Which scores the dropout of fused attention keeps.
#pragma once

#include "engine/ops/random/draws.h"

namespace kerf::inline ops {

/// Where a dropout mask's numbers start in the Philox stream: philox_seed and philox_offset of the op.
struct DropoutStream {
  std::int64_t seed = 0, offset = 0;
};

/// The next stretch of the generator, one number per score.
inline DropoutStream nextDropoutStream(std::int64_t scores) {
  RandomState& state = randomState();
  const std::uint64_t offset = state.takeCudaOffset(std::uint64_t(scores));
  return {std::int64_t(state.cudaSeed), std::int64_t(offset)};
}

/// Whether dropout keeps score `index` (row-major over batch, head, query, key), as PyTorch's kernel decides.
inline bool keepsScore(const DropoutStream& stream, std::int64_t index, double p) {
  const std::uint64_t at = std::uint64_t(stream.offset) + std::uint64_t(index);
  const PhiloxWords words = philox(std::uint64_t(stream.seed), at / 4, 0);
  return curandUniform(words[at % 4]) > float(p);
}

}  // namespace kerf::inline ops
