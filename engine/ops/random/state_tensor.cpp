// Generators' states as tensors, so that a graph can pass them on.
#include <cstring>

#include "engine/ops/random/state.h"

namespace kerf::inline ops {

Result<Tensor> stateTensor(const RandomState& state, bool ofCuda) {
  KERF_TRY(Tensor tensor, Tensor::zeros(DType::UInt8, {ofCuda ? cudaStateBytes : cpuStateBytes}));
  std::byte* bytes = reinterpret_cast<std::byte*>(tensor.storage()->data());
  if (ofCuda) {
    const std::uint64_t words[] = {state.cudaSeed, state.cudaOffset};
    static_assert(sizeof(words) == cudaStateBytes);
    std::memcpy(bytes, words, sizeof(words));
  } else {
    const auto words = state.cpu.state();
    static_assert(sizeof(words) <= cpuStateBytes);
    std::memcpy(bytes, words.data(), sizeof(words));
  }
  return tensor;
}

Result<void> setStateTensor(RandomState& state, const Tensor& tensor) {
  const bool isState = tensor.defined() && tensor.dtype() == DType::UInt8 && tensor.dim() == 1 &&
                       (tensor.numel() == cpuStateBytes || tensor.numel() == cudaStateBytes);
  if (!isState) return fail(ErrorCode::ShapeMismatch, "a generator's state is a tensor u8[5056] or u8[16]");
  KERF_TRY(const Tensor dense, tensor.contiguous());
  const std::uint8_t* bytes = dense.data<std::uint8_t>();
  if (dense.numel() == cudaStateBytes) {
    std::memcpy(&state.cudaSeed, bytes, sizeof(state.cudaSeed));
    std::memcpy(&state.cudaOffset, bytes + sizeof(state.cudaSeed), sizeof(state.cudaOffset));
    return {};
  }
  std::array<std::uint32_t, CpuGenerator::stateWords> words{};
  std::memcpy(words.data(), bytes, sizeof(words));
  state.cpu.setState(words);
  return {};
}

}  // namespace kerf::inline ops
