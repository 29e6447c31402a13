// Where random ops draw from: PyTorch's default generators, one set per thread, seeded as torch.manual_seed does.
#pragma once

#include <optional>

#include "engine/ops/random/engines.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline ops {

/// PyTorch's seed when nobody calls manual_seed (c10::detail::getNonDeterministicRandom aside).
constexpr std::uint64_t defaultRandomSeed = 67280421310721ULL;

/// What decides how many threads a CUDA kernel of ATen starts, and with that the layout of its random numbers.
struct CudaLayout {
  std::int64_t multiprocessors = 132;
  std::int64_t threadsPerMultiprocessor = 2048;
};

struct RandomState {
  CpuGenerator cpu{defaultRandomSeed};
  std::uint64_t cudaSeed = defaultRandomSeed;
  std::uint64_t cudaOffset = 0;
  CudaLayout layout;  ///< H200 and H100 unless set
  /// What Float64 tensors are drawn as: an fp64 reference takes the numbers of the narrower run beside it. PyTorch
  /// draws them with 53 bits, so that its fp64 reference drops other elements than the runs that it judges.
  std::optional<DType> drawnAs;
  DType drawDtype(DType dtype) const { return dtype == DType::Float64 ? drawnAs.value_or(dtype) : dtype; }
  /// The offset for a CUDA kernel whose threads take `increment` numbers each; rounds it up to a multiple of 4.
  std::uint64_t takeCudaOffset(std::uint64_t increment);
};

/// The calling thread's generators.
RandomState& randomState();
/// torch.manual_seed(seed) for the calling thread. Runs that are to be compared start with the same call.
void seedRandom(std::uint64_t seed = defaultRandomSeed);

/// Bytes of a generator's state as torch.get_rng_state() and torch.cuda.get_rng_state() give them.
inline constexpr std::int64_t cpuStateBytes = 5056, cudaStateBytes = 16;
/// The state of the generator that draws on a device, as a tensor u8[5056] or (CUDA) u8[16]. The bytes are Kerf's own.
Result<Tensor> stateTensor(const RandomState& state, bool ofCuda);
/// Sets the generator that the tensor is of. ShapeMismatch for what is no such tensor.
Result<void> setStateTensor(RandomState& state, const Tensor& tensor);

/// Seeds on construction and puts the thread's generators back on destruction.
class RandomScope {
 public:
  explicit RandomScope(std::uint64_t seed = defaultRandomSeed) : m_saved(randomState()) { seedRandom(seed); }
  ~RandomScope() { randomState() = m_saved; }
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  RandomState m_saved;
};

}  // namespace kerf::inline ops
