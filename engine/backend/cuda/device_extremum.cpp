// cummax and cummin on the device: of equal ones the latest counts, a NaN stays.
#include <limits>

#include "engine/backend/cuda/device_ops.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline backend {
namespace {

/// A block for a line, 256 elements at a time; or, of lines that lie beside each other, a thread for each.
constexpr std::string_view extremumSource = R"cuda(
// Whether what comes later takes the place of what was there.
__device__ __forceinline__ bool kerf_takes(A later, A before) { return later != later || (before == before && BETTER(later, before)); }

extern "C" __global__ void __launch_bounds__(256) kerf_extremum(const T* from, T* values, long long* places, KerfShape in, KerfShape out, KerfShape to,
                                                               long long size, long long inStep, long long outStep, long long toStep) {
  __shared__ A warpValues[8];
  __shared__ long long warpPlaces[8];
  const T* const x = from + kerf_place(in, blockIdx.x);
  T* const y = values + kerf_place(out, blockIdx.x);
  long long* const at = places + kerf_place(to, blockIdx.x);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  A before = (A)0;
  long long beforeAt = -1;  // nothing yet
  for (long long base = 0; base < size; base += 256) {
    const long long own = base + threadIdx.x;
    A most = own < size ? (A)FROM(x[own * inStep]) : (A)0;
    long long mostAt = own < size ? own : -1;
    for (int distance = 1; distance < 32; distance *= 2) {
      const A left = __shfl_up_sync(0xffffffffu, most, distance);
      const long long leftAt = __shfl_up_sync(0xffffffffu, mostAt, distance);
      if (lane >= distance && mostAt >= 0 && !kerf_takes(most, left)) most = left, mostAt = leftAt;
    }
    __syncthreads();
    if (lane == 31) warpValues[warp] = most, warpPlaces[warp] = mostAt;
    __syncthreads();
    A lead = before;
    long long leadAt = beforeAt;
    for (int w = 0; w < 8; ++w) {
      if (w == warp && mostAt >= 0 && leadAt >= 0 && !kerf_takes(most, lead)) most = lead, mostAt = leadAt;
      if (warpPlaces[w] >= 0 && (leadAt < 0 || kerf_takes(warpValues[w], lead))) lead = warpValues[w], leadAt = warpPlaces[w];
    }
    before = lead, beforeAt = leadAt;
    if (own < size) y[own * outStep] = TO(most), at[own * toStep] = mostAt;
  }
}

extern "C" __global__ void kerf_extremum_lines(const T* from, T* values, long long* places, KerfShape in, KerfShape out, KerfShape to, long long size,
                                               long long inStep, long long outStep, long long toStep, long long lines) {
  const long long line = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  const T* const x = from + kerf_place(in, line);
  T* const y = values + kerf_place(out, line);
  long long* const at = places + kerf_place(to, line);
  A most = (A)0;
  long long mostAt = -1;
  for (long long i = 0; i < size; ++i) {
    const A own = (A)FROM(x[i * inStep]);
    if (mostAt < 0 || kerf_takes(own, most)) most = own, mostAt = i;
    y[i * outStep] = TO(most), at[i * toStep] = mostAt;
  }
}
)cuda";

KernelMacros extremumMacros(DType dtype, bool largest) {
  KernelMacros macros = typeMacros(dtype, dtype);
  macros.emplace_back("BETTER(a, b)", largest ? "((a) >= (b))" : "((a) <= (b))");
  return macros;
}

/// (self, dim) -> (values, indices)
template <bool largest>
Result<bool> run(const DeviceCall& call) {
  const Tensor &self = call.args.tensor(0), &values = call.out(0), &places = call.out(1);
  if (memoryType(self.dtype()).empty() || self.dim() == 0) return false;
  if (self.numel() == 0) return true;
  const std::int64_t given = call.args.integer(1);
  const auto dim = std::size_t(given < 0 ? given + self.dim() : given);
  const std::int64_t size = self.sizes()[dim], lines = self.numel() / size;
  if (lines > std::numeric_limits<std::int32_t>::max()) return false;  // more blocks than a launch can have
  Sizes each = self.sizes();
  each[dim] = 1;
  KernelArguments arguments;
  KERF_TRY(const DeviceAddress from, call.on.addressOf(self));
  KERF_TRY(const DeviceAddress to, call.on.addressOf(values, true));
  KERF_TRY(const DeviceAddress at, call.on.addressOf(places, true));
  arguments.add(from).add(to).add(at);
  for (const Tensor* tensor : {&self, &values, &places}) {
    KERF_TRY(const DeviceShape shape, DeviceShape::merged(each, tensor->strides()));
    arguments.add(shape);
  }
  arguments.add(size).add(self.strides()[dim]).add(values.strides()[dim]).add(places.strides()[dim]);
  const bool beside = self.strides()[dim] != 1 && lines >= 32;
  if (beside) arguments.add(lines);
  KERF_CHECK(call.on.library.launch(extremumSource, beside ? "kerf_extremum_lines" : "kerf_extremum",
                                    extremumMacros(self.dtype(), largest), beside ? (lines + 255) / 256 : lines, 256,
                                    arguments));
  return true;
}

constexpr DeviceOp rows[] = {
    {.op = "aten.cummax.default", .run = run<true>},
    {.op = "aten.cummin.default", .run = run<false>},
};

}  // namespace

std::span<const DeviceOp> extremumDeviceOps() { return rows; }

std::vector<LibraryKernel> extremumKernels() {
  std::vector<LibraryKernel> all;
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Int64})
    for (const char* name : {"kerf_extremum", "kerf_extremum_lines"})
      all.push_back({extremumSource, name, extremumMacros(dtype, dtype != DType::Int64)});
  return all;
}

}  // namespace kerf::inline backend
