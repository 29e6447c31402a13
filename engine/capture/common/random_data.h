// Replacement data for tensors whose bytes a repro lost: PyTorch's rand_strided rule, from a fixed seed.
#pragma once

#include <cstdint>

#include "engine/tensor/dtype.h"
#include "engine/tensor/storage.h"

namespace kerf::inline capture {

/// Fills `storage`, seen as elements of `dtype`, with standard normal values (float and complex dtypes; 8-bit floats
/// are drawn as fp16 and cast) or leaves the zeros (integers, bool). Same seed, same bytes, on every machine.
void fillLikeRandStrided(Storage& storage, DType dtype, std::uint64_t seed);

}  // namespace kerf::inline capture
