#include "engine/backend/cuda/device_checks.h"

#include <array>

#include <fmt/format.h>

#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline backend {
namespace {

/// found: number of the check, index, first position outside, blocks that are done. What lies one behind the other is
/// read in packs of 16 bytes, several of a thread at once: reading 268 MB of it took two thirds of what a gather by it
/// takes.
constexpr std::string_view source = R"cuda(
extern "C" __global__ void kerf_check(const T* indices, KerfShape shape, long long count, long long least, long long greatest,
                                      unsigned long long number, unsigned long long* found) {
  constexpr int ahead = 4, many = 16 / sizeof(T);
  const long long step = (long long)gridDim.x * blockDim.x, own = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long first = ~0ull;
  const auto look = [&](T value, long long i) {
    const long long index = (long long)value;
    if ((index < least || index > greatest) && (unsigned long long)i < first) first = (unsigned long long)i;
  };
  const bool isRow = shape.dims == 0 || (shape.dims == 1 && shape.strides[0] == 1);
  const long long packs = isRow && (unsigned long long)indices % 16 == 0 ? count / many : 0;
  for (long long p = own; p < packs; p += ahead * step) {
    KerfPack<T, many> read[ahead];
    #pragma unroll
    for (int u = 0; u < ahead; ++u) read[u] = kerf_load<T, many>(indices + (p + u * step < packs ? p + u * step : p) * many);
    #pragma unroll
    for (int u = 0; u < ahead; ++u)
      #pragma unroll
      for (int q = 0; q < many; ++q) look(read[u].at[q], (p + u * step < packs ? p + u * step : p) * many + q);
  }
  for (long long i = packs * many + own; i < count; i += step) look(indices[kerf_place(shape, i)], i);
  if (first != ~0ull) atomicMin(found + 2, first);
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(found + 3, 1ull) != gridDim.x - 1) return;
  const unsigned long long at = atomicExch(found + 2, ~0ull);
  found[3] = 0;
  if (at == ~0ull || found[0] != 0) return;
  found[1] = (unsigned long long)(long long)indices[kerf_place(shape, (long long)at)];
  found[0] = number;
}
)cuda";
constexpr std::array<std::uint64_t, 4> nothing{0, 0, ~std::uint64_t{0}, 0};

}  // namespace

LibraryKernel checkKernel() { return {source, "kerf_check", {{"T", "long long"}}}; }

Result<void> DeviceChecks::begin() {
  m_bounds.clear();
  if (m_found != 0) return {};
  KERF_TRY(m_found, m_queue.driver().allocate(sizeof(nothing)));
  return m_queue.driver().upload(m_found, nothing.data(), sizeof(nothing));
}

std::uint64_t DeviceChecks::announce(IndexBounds bounds) {
  m_bounds.push_back(std::move(bounds));
  return m_bounds.size();
}

Result<void> DeviceChecks::add(const Tensor& indices, DeviceAddress address, IndexBounds bounds) {
  if (indices.numel() == 0) return {};
  const std::int64_t least = bounds.mayBeNegative ? -bounds.size : 0, greatest = bounds.size - 1;
  const std::string_view type = memoryType(indices.dtype());
  if (type.empty() || isFloating(indices.dtype()))
    return fail(ErrorCode::UnsupportedOp, "indices of {}", dtypeInfo(indices.dtype()).shortCode);
  KERF_TRY(const DeviceShape shape, DeviceShape::merged(indices.sizes(), indices.strides()));
  KernelArguments arguments;
  arguments.add(address).add(shape).add(indices.numel()).add(least).add(greatest);
  arguments.add(announce(std::move(bounds))).add(m_found);
  return m_library.launch(source, "kerf_check", {{"T", std::string(type)}}, m_library.blocksFor(indices.numel()), 256,
                          arguments);
}

Result<void> DeviceChecks::finish() {
  if (m_bounds.empty()) return {};
  std::array<std::uint64_t, 4> found{};
  KERF_CHECK(m_queue.driver().download(found.data(), m_found, sizeof(found)));
  if (found[0] == 0 || found[0] > m_bounds.size()) return {};
  KERF_CHECK(m_queue.driver().upload(m_found, nothing.data(), sizeof(nothing)));
  const IndexBounds& bounds = m_bounds[std::size_t(found[0] - 1)];
  Error error{ErrorCode::RuntimeFailed,
              fmt::format("{}: index {} is out of bounds for dimension {} with size {}", bounds.opName,
                          std::int64_t(found[1]), bounds.dim, bounds.size),
              {},
              0,
              bounds.node,
              {}};
  return fail(std::move(error));
}

}  // namespace kerf::inline backend
