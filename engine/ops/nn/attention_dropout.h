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

/// The dropout of one call; p = 0: none.
struct ScoreDropout {
  DropoutStream stream;
  double p = 0;
};

/// What dropout multiplies the scores [first, first + count) by (row-major over batch, head, query, key): 0 or
/// 1 / (1 - p), as PyTorch's kernel decides.
void dropoutFactors(const ScoreDropout& dropout, std::int64_t first, std::int64_t count, float* factors);
void dropoutFactors(const ScoreDropout& dropout, std::int64_t first, std::int64_t count, double* factors);

}  // namespace kerf::inline ops
