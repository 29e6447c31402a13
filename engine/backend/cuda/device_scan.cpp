// Running sums, products and logarithms of sums of exponentials on the device.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "engine/backend/cuda/device_ops.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline backend {
namespace {

/// T is what is read, O what is written, A what is combined in. Along a line of its own, whose neighbours lie beside each
/// other, a block scans 2048 elements at a time; of lines that lie beside each other 32, 128 elements of each at a time.
constexpr std::string_view scanSource = R"cuda(
template <class X>
__device__ __forceinline__ X kerf_log_add(X a, X b) {
  const X most = kerf_max(a, b), least = kerf_min(a, b);
  return most - most == 0 ? most + log1p(exp(least - most)) : most;
}

extern "C" __global__ void __launch_bounds__(256) kerf_scan(const T* __restrict__ from, O* __restrict__ out, KerfShape in, KerfShape to,
                                                           long long size, long long inStep, long long outStep) {
  constexpr int EACH = 8, PIECE = 256 * EACH;
  __shared__ A elements[PIECE + PIECE / EACH], warps[8];
  const T* const x = from + kerf_place(in, blockIdx.x);
  O* const y = out + kerf_place(to, blockIdx.x);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = threadIdx.x * (EACH + 1);
  A before = START;
  for (long long base = 0; base < size; base += PIECE) {
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
      const int at = k * 256 + threadIdx.x;
      elements[at + at / EACH] = base + at < size ? (A)FROM(x[(base + at) * inStep]) : START;
    }
    __syncthreads();
    A own[EACH], total = START;
    #pragma unroll
    for (int k = 0; k < EACH; ++k) own[k] = total = COMBINE(total, elements[first + k]);
    for (int distance = 1; distance < 32; distance *= 2) {
      const A left = __shfl_up_sync(0xffffffffu, total, distance);
      if (lane >= distance) total = COMBINE(left, total);
    }
    if (lane == 31) warps[warp] = total;
    const A left = __shfl_up_sync(0xffffffffu, total, 1);
    __syncthreads();
    A lead = before;
    for (int w = 0; w < warp; ++w) lead = COMBINE(lead, warps[w]);
    if (lane > 0) lead = COMBINE(lead, left);
    #pragma unroll
    for (int k = 0; k < EACH; ++k) elements[first + k] = COMBINE(lead, own[k]);
    for (int w = 0; w < 8; ++w) before = COMBINE(before, warps[w]);
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
      const int at = k * 256 + threadIdx.x;
      if (base + at < size) y[(base + at) * outStep] = TO(elements[at + at / EACH]);
    }
    __syncthreads();
  }
}

// Elements beside each other, at places that are multiples of V: each thread has 8 of them in registers, and reads the next ones
// before it needs them.
constexpr int KERF_PACKS = 8 / V;
__device__ __forceinline__ void kerf_scan_read(KerfPack<T, V> (&packs)[KERF_PACKS], const T* x, long long first, long long size) {
  #pragma unroll
  for (int p = 0; p < KERF_PACKS; ++p)
    if (first + p * V < size) packs[p] = kerf_load<T, V>(x + first + p * V);
}

extern "C" __global__ void __launch_bounds__(256) kerf_scan_packs(const T* __restrict__ from, O* __restrict__ out, KerfShape in, KerfShape to,
                                                                 long long size, long long, long long) {
  constexpr int EACH = 8, PIECE = 256 * EACH;
  __shared__ A warps[2][8];
  const T* const x = from + kerf_place(in, blockIdx.x);
  O* const y = out + kerf_place(to, blockIdx.x);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  A before = START;
  KerfPack<T, V> packs[KERF_PACKS], next[KERF_PACKS];
  kerf_scan_read(packs, x, threadIdx.x * EACH, size);
  int side = 0;
  for (long long base = 0; base < size; base += PIECE, side ^= 1) {
    const long long first = base + threadIdx.x * EACH;
    kerf_scan_read(next, x, first + PIECE, size);
    A own[EACH], total = START;
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
      if (first + k < size) total = COMBINE(total, (A)FROM(packs[k / V].at[k % V]));
      own[k] = total;
    }
    for (int distance = 1; distance < 32; distance *= 2) {
      const A left = __shfl_up_sync(0xffffffffu, total, distance);
      if (lane >= distance) total = COMBINE(left, total);
    }
    if (lane == 31) warps[side][warp] = total;
    const A left = __shfl_up_sync(0xffffffffu, total, 1);
    __syncthreads();
    A lead = before;
    for (int w = 0; w < 8; ++w) {
      if (w < warp) lead = COMBINE(lead, warps[side][w]);
      before = COMBINE(before, warps[side][w]);
    }
    if (lane > 0) lead = COMBINE(lead, left);
    #pragma unroll
    for (int p = 0; p < KERF_PACKS; ++p) {
      KerfPack<O, V> done;
      #pragma unroll
      for (int v = 0; v < V; ++v) done.at[v] = TO(COMBINE(lead, own[p * V + v]));
      if (first + p * V < size) kerf_store<O, V>(y + first + p * V, done);
      packs[p] = next[p];
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) kerf_scan_lines(const T* __restrict__ from, O* __restrict__ out, KerfShape in, KerfShape to,
                                                                 long long size, long long inStep, long long outStep, long long lines) {
  constexpr int EACH = 16, GROUPS = 8;
  __shared__ A parts[GROUPS][32];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const long long own = (long long)blockIdx.x * 32 + lane, line = own < lines ? own : lines - 1;
  const T* const x = from + kerf_place(in, line);
  O* const y = out + kerf_place(to, line);
  A before = START;
  for (long long base = 0; base < size; base += EACH * GROUPS) {
    const long long first = base + group * EACH;
    A sums[EACH], total = START;
    #pragma unroll
    for (int k = 0; k < EACH; ++k) sums[k] = first + k < size ? (A)FROM(x[(first + k) * inStep]) : START;
    #pragma unroll
    for (int k = 0; k < EACH; ++k) sums[k] = total = COMBINE(total, sums[k]);
    parts[group][lane] = total;
    __syncthreads();
    A lead = before;
    for (int g = 0; g < group; ++g) lead = COMBINE(lead, parts[g][lane]);
    for (int g = 0; g < GROUPS; ++g) before = COMBINE(before, parts[g][lane]);
    #pragma unroll
    for (int k = 0; k < EACH; ++k)
      if (first + k < size && own < lines) y[(first + k) * outStep] = TO(COMBINE(lead, sums[k]));
    __syncthreads();
  }
}
)cuda";

struct Scan {
  std::string_view op, combine, start;
  bool floatsOnly = false;
};
constexpr Scan scans[] = {
    {"aten.cumsum.default", "((a) + (b))", "((A)0)"},
    {"aten.cumprod.default", "((a) * (b))", "((A)1)"},
    {"aten.logcumsumexp.default", "kerf_log_add<A>(a, b)", "((A)-__longlong_as_double(0x7ff0000000000000ll))", true},
};

/// Elements of both types that 16 bytes hold, 8 at most.
int packOf(DType from, DType to) { return int(std::min<std::int64_t>(8, 16 / std::max(itemSize(from), itemSize(to)))); }

KernelMacros scanMacros(const Scan& scan, DType from, DType to) {
  KernelMacros macros = typeMacros(from, to);
  macros.emplace_back("COMBINE(a, b)", scan.combine);
  macros.emplace_back("START", scan.start);
  macros.emplace_back("V", std::to_string(packOf(from, to)));
  return macros;
}

/// Whether each line of both begins at a multiple of a pack and has whole ones.
bool liesInPacks(const Tensor& self, DeviceAddress from, std::size_t dim, const Tensor& out, DeviceAddress to) {
  const int pack = packOf(self.dtype(), out.dtype());
  bool fits = self.strides()[dim] == 1 && out.strides()[dim] == 1 && self.sizes()[dim] % pack == 0;
  for (const auto& [tensor, address] : {std::pair(&self, from), std::pair(&out, to)}) {
    fits = fits && address % std::uint64_t(pack * itemSize(tensor->dtype())) == 0;
    for (std::size_t d = 0; d < tensor->sizes().size(); ++d)
      fits = fits && (d == dim || tensor->sizes()[d] == 1 || tensor->strides()[d] % pack == 0);
  }
  return fits;
}

/// (self, dim, *, dtype)
template <std::size_t which>
Result<bool> run(const DeviceCall& call) {
  const Tensor &self = call.args.tensor(0), &out = call.out(0);
  if (memoryType(self.dtype()).empty() || memoryType(out.dtype()).empty() || out.dtype() == DType::Bool) return false;
  if (self.numel() == 0 || self.dim() == 0 || (isFloating(self.dtype()) && !isFloating(out.dtype()))) return false;
  const std::int64_t given = call.args.integer(1);
  const std::size_t dim = std::size_t(given < 0 ? given + self.dim() : given);
  Sizes lines = self.sizes();
  lines[dim] = 1;
  const std::int64_t count = self.numel() / self.sizes()[dim];
  KERF_TRY(const DeviceAddress from, call.on.addressOf(self));
  KERF_TRY(const DeviceAddress to, call.on.addressOf(out, true));
  KERF_TRY(const DeviceShape in, DeviceShape::merged(lines, self.strides()));
  KERF_TRY(const DeviceShape result, DeviceShape::merged(lines, out.strides()));
  const bool beside = self.strides()[dim] != 1 && count >= 32;
  if (count > std::numeric_limits<std::int32_t>::max()) return false;  // more blocks than a launch can have
  KernelArguments arguments;
  arguments.add(from).add(to).add(in).add(result).add(self.sizes()[dim]).add(self.strides()[dim]);
  arguments.add(out.strides()[dim]);
  if (beside) arguments.add(count);
  const bool packed = liesInPacks(self, from, dim, out, to);
  KERF_CHECK(call.on.library.launch(scanSource,
                                    beside   ? "kerf_scan_lines"
                                    : packed ? "kerf_scan_packs"
                                             : "kerf_scan",
                                    scanMacros(scans[which], self.dtype(), out.dtype()),
                                    beside ? (count + 31) / 32 : count, 256, arguments));
  return true;
}

constexpr DeviceOp rows[] = {
    {.op = scans[0].op, .run = run<0>},
    {.op = scans[1].op, .run = run<1>},
    {.op = scans[2].op, .run = run<2>},
};

}  // namespace

std::vector<LibraryKernel> scanKernels() {
  std::vector<LibraryKernel> all;
  for (const Scan& scan : scans)
    for (const DType dtype :
         {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Int64, DType::Int32}) {
      if (scan.floatsOnly && !isFloating(dtype)) continue;
      for (const char* name : {"kerf_scan", "kerf_scan_packs", "kerf_scan_lines"})
        all.push_back({scanSource, name, scanMacros(scan, dtype, dtype)});
    }
  all.push_back({scanSource, "kerf_scan", scanMacros(scans[0], DType::Bool, DType::Int64)});
  return all;
}

std::span<const DeviceOp> scanDeviceOps() { return rows; }

}  // namespace kerf::inline backend
