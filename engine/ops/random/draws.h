// Draws of PyTorch's distributions into memory-ordered buffers, for CPU and CUDA tensors.
#pragma once

#include <functional>
#include <vector>

#include "engine/ops/core/op_call.h"
#include "engine/ops/random/state.h"

namespace kerf::inline ops {

/// Distributions over floating point tensors. Parameters a and b: [from, to), mean and std, rate, probability, …
enum class Distribution : std::uint8_t { Uniform, Normal, LogNormal, Exponential, Geometric, Cauchy, Bernoulli };

/// `count` values in the order of memory, as drawn for a tensor of `dtype` and rounded to it. `contiguous` decides
/// which of PyTorch's two normal algorithms runs on the CPU.
std::vector<double> drawValues(Distribution kind, DType dtype, std::int64_t count, double a, double b, bool cuda,
                               bool contiguous);
/// Integers base + [0, range); range 0 means all 2^64.
std::vector<std::int64_t> drawIntegers(std::int64_t count, std::uint64_t range, std::int64_t base, bool cuda);
/// random_(): integers up to the dtype's largest (for floats 2^digits).
std::vector<std::int64_t> drawAnyIntegers(DType dtype, std::int64_t count, bool cuda);
/// One word per element as ATen's grid-stride CUDA kernels hand them out, `unroll` (4, or 2 for 64-bit draws) a thread.
void forCudaWords(std::int64_t count, std::int64_t unroll,
                  const std::function<void(std::int64_t, std::uint32_t, std::uint32_t)>& sink);

/// (0, 1] from one word, as curand_uniform.
float curandUniform(std::uint32_t word);

}  // namespace kerf::inline ops
