#include "engine/backend/cuda/device_sort.h"

#include <utility>

#include "engine/backend/cuda/device_lines.h"

namespace kerf::inline backend {
namespace {

/// A block has 4096 keys, a warp 512 of them next to each other, 32 at a time. For each digit of 8 bits: how many of
/// them every block has (digit by digit, so that one block adds up one digit's), where each block's begin, and where
/// each key goes.
constexpr std::string_view sortSource = R"cuda(
constexpr int KERF_EACH = 16, KERF_TILE = 4096;

extern "C" __global__ void __launch_bounds__(256) kerf_sort_count(const K* __restrict__ keys, unsigned int* counts, long long count, int shift) {
  __shared__ unsigned int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < KERF_EACH; ++k) {
    const long long at = (long long)blockIdx.x * KERF_TILE + k * 256 + threadIdx.x;
    if (at < count) atomicAdd(own + ((unsigned int)(keys[at] >> shift) & 255u), 1u);
  }
  __syncthreads();
  counts[(long long)threadIdx.x * gridDim.x + blockIdx.x] = own[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(256) kerf_sort_offsets(unsigned int* counts, unsigned int* totals, long long blocks) {
  __shared__ unsigned int warps[8];
  unsigned int* const own = counts + blockIdx.x * blocks;
  unsigned int before = 0;
  for (long long base = 0; base < blocks; base += 256) {
    const long long at = base + threadIdx.x;
    unsigned int all;
    const unsigned int value = at < blocks ? own[at] : 0, lead = kerf_before<8>(value, warps, all);
    if (at < blocks) own[at] = before + lead;
    before += all;
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

extern "C" __global__ void __launch_bounds__(256) kerf_sort_move(const K* keys, const int* order, K* keysOut, int* orderOut,
                                                                const unsigned int* counts, const unsigned int* totals, long long count, int shift) {
  constexpr int WARPS = 8;
  __shared__ unsigned int places[WARPS][257], warps[WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < WARPS * 257; i += WARPS * 32) places[i / 257][i % 257] = 0;
  __syncthreads();
  K own[KERF_EACH];
  unsigned int ranks[KERF_EACH];
  const long long first = (long long)blockIdx.x * (WARPS * 32 * KERF_EACH) + warp * (32 * KERF_EACH) + lane;
  #pragma unroll
  for (int k = 0; k < KERF_EACH; ++k) own[k] = first + k * 32 < count ? keys[first + k * 32] : (K)0;
  #pragma unroll
  for (int k = 0; k < KERF_EACH; ++k) {
    const unsigned int digit = first + k * 32 < count ? (unsigned int)(own[k] >> shift) & 255u : 256u;
    const unsigned int peers = __match_any_sync(0xffffffffu, digit), before = places[warp][digit];
    const unsigned int rank = __popc(peers & ((1u << lane) - 1u));
    __syncwarp();
    if (rank == 0) places[warp][digit] = before + __popc(peers);
    __syncwarp();
    ranks[k] = before + rank;
  }
  __syncthreads();
  unsigned int all, next = kerf_before<WARPS>(totals[threadIdx.x], warps, all);
  next += counts[(long long)threadIdx.x * gridDim.x + blockIdx.x];
  for (int w = 0; w < WARPS; ++w) {
    const unsigned int some = places[w][threadIdx.x];
    places[w][threadIdx.x] = next;
    next += some;
  }
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < KERF_EACH; ++k) {
    const long long at = first + k * 32;
    if (at >= count) continue;
    const unsigned int to = places[warp][(unsigned int)(own[k] >> shift) & 255u] + ranks[k];
    keysOut[to] = own[k];
    orderOut[to] = order ? order[at] : (int)at;
  }
}
)cuda";

/// All keys by one block, in its shared memory. G: keys as they are given; K: what is left of them below bit `high`.
constexpr std::string_view fewSource = R"cuda(
extern "C" __global__ void __launch_bounds__(W * 32) kerf_sort_few(const G* keys, const int* order, G* keysOut, int* orderOut, long long count,
                                                                  int low, int high) {
  __shared__ KerfSpace space;
  #pragma unroll 4
  for (int i = threadIdx.x; i < KERF_LINE; i += KERF_THREADS) space.keys[i] = i < count ? (K)keys[i] : (K)~(K)0;
  K own[EACH];
  unsigned short numbers[EACH];
  kerf_take_line(own, numbers, space);
  kerf_sort_block(own, numbers, space, low, high);
  const unsigned short* const from = (const unsigned short*)space.keys;
  #pragma unroll 4
  for (int i = threadIdx.x; i < (int)count; i += KERF_THREADS) {
    keysOut[i] = keys[from[i]];
    orderOut[i] = order ? order[from[i]] : (int)from[i];
  }
}
)cuda";

const std::string& sortText() {
  static const std::string text = std::string(prefixSource()) + std::string(sortSource);
  return text;
}
const std::string& fewText() {
  static const std::string text = std::string(lineSource()) + std::string(fewSource);
  return text;
}
/// `bytes`: of what is left of the keys.
KernelMacros fewMacros(LineForm form, std::int64_t keyBytes, std::int64_t bytes) {
  KernelMacros macros = lineMacros(form);
  macros.emplace_back("G", keyType(keyBytes));
  macros.emplace_back("K", bytes == 2 ? "unsigned short" : keyType(bytes));
  return macros;
}

constexpr std::int64_t tile = 4096, digits = 256;
constexpr int digitBits = 8;

}  // namespace

std::string keyType(std::int64_t bytes) { return bytes == 4 ? "unsigned int" : "unsigned long long"; }

Result<DeviceKeys> sortKeys(const DeviceParts& on, const DeviceKeys& keys, int from, int to) {
  if (keys.count >= std::int64_t{1} << 31) return fail(ErrorCode::TooLarge, "sorting {} keys", keys.count);
  const KernelMacros macros{{"K", keyType(keys.bytes)}};
  if (keys.count == 0 || to <= from) return keys;
  DeviceKeys now = keys, next = keys;
  KERF_TRY(next.keys, on.scratch.take(keys.count * keys.bytes));
  KERF_TRY(next.order, on.scratch.take(keys.count * 4));
  const std::int64_t bytes = to <= 16 ? 2 : to <= 32 ? 4 : keys.bytes;
  if (const auto form = lineFormOf(keys.count, bytes)) {
    KernelArguments sorting;
    sorting.add(now.keys).add(now.order).add(next.keys).add(next.order).add(keys.count).add(from).add(to);
    KERF_CHECK(on.library.launch(fewText(), "kerf_sort_few", fewMacros(*form, keys.bytes, bytes), 1, form->warps * 32,
                                 sorting));
    return next;
  }
  KERF_TRY(DeviceAddress other, on.scratch.take(keys.count * 4));
  const std::int64_t blocks = (keys.count + tile - 1) / tile;
  KERF_TRY(const DeviceAddress counts, on.scratch.take(digits * blocks * 4));
  KERF_TRY(const DeviceAddress totals, on.scratch.take(digits * 4));
  for (int shift = from; shift < to; shift += digitBits) {
    KernelArguments counting, adding, moving;
    counting.add(now.keys).add(counts).add(keys.count).add(shift);
    KERF_CHECK(on.library.launch(sortText(), "kerf_sort_count", macros, blocks, 256, counting));
    adding.add(counts).add(totals).add(blocks);
    KERF_CHECK(on.library.launch(sortText(), "kerf_sort_offsets", macros, digits, 256, adding));
    moving.add(now.keys)
        .add(now.order)
        .add(next.keys)
        .add(next.order)
        .add(counts)
        .add(totals)
        .add(keys.count)
        .add(shift);
    KERF_CHECK(on.library.launch(sortText(), "kerf_sort_move", macros, blocks, 256, moving));
    std::swap(now, next);
    if (shift == from) next.order = other;  // the first one's is the caller's
  }
  return now;
}

std::vector<LibraryKernel> sortKernels() {
  std::vector<LibraryKernel> all;
  for (const std::int64_t bytes : {4, 8})
    for (const char* name : {"kerf_sort_count", "kerf_sort_offsets", "kerf_sort_move"})
      all.push_back({sortText(), name, {{"K", keyType(bytes)}}});
  for (const std::int64_t bytes : {4, 8}) all.push_back({fewText(), "kerf_sort_few", fewMacros({16, 8}, bytes, bytes)});
  all.push_back({fewText(), "kerf_sort_few", fewMacros({16, 32}, 4, 2)});
  return all;
}

}  // namespace kerf::inline backend
