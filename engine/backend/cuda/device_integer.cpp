// Products of matrices of bytes on the device.
#include <limits>

#include "engine/backend/cuda/device_ops.h"

namespace kerf::inline backend {
namespace {

/// A block has 32 x 32 results, a thread four of one column; 32 elements of each row and column at a time.
constexpr std::string_view integerSource = R"cuda(
extern "C" __global__ void __launch_bounds__(256) kerf_int_mm(const signed char* a, const signed char* b, int* out, long long rows, long long columns,
                                                             long long inner, long long aRow, long long aColumn, long long bRow, long long bColumn,
                                                             long long outRow, long long outColumn, long long across) {
  __shared__ int left[32][33], right[32][33];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const long long row = blockIdx.x / across * 32, column = blockIdx.x % across * 32;
  int sums[4] = {0, 0, 0, 0};
  for (long long base = 0; base < inner; base += 32) {
    for (int k = 0; k < 4; ++k) {
      const int line = y + 8 * k;
      left[line][x] = row + line < rows && base + x < inner ? a[(row + line) * aRow + (base + x) * aColumn] : 0;
      right[line][x] = base + line < inner && column + x < columns ? b[(base + line) * bRow + (column + x) * bColumn] : 0;
    }
    __syncthreads();
    for (int i = 0; i < 32; ++i)
      for (int k = 0; k < 4; ++k) sums[k] += left[y + 8 * k][i] * right[i][x];
    __syncthreads();
  }
  for (int k = 0; k < 4; ++k)
    if (row + y + 8 * k < rows && column + x < columns) out[(row + y + 8 * k) * outRow + (column + x) * outColumn] = sums[k];
}
)cuda";

/// _int_mm(self, mat2): int8 to int32.
Result<bool> intProduct(const DeviceCall& call) {
  const Tensor &a = call.args.tensor(0), &b = call.args.tensor(1), &out = call.out(0);
  const bool takes = a.dim() == 2 && b.dim() == 2 && a.dtype() == DType::Int8 && b.dtype() == DType::Int8;
  if (!takes || out.dtype() != DType::Int32) return false;
  const std::int64_t across = (out.size(1) + 31) / 32, blocks = (out.size(0) + 31) / 32 * across;
  if (blocks > std::numeric_limits<std::int32_t>::max()) return false;
  KernelArguments arguments;
  KERF_TRY(const DeviceAddress left, call.on.addressOf(a));
  KERF_TRY(const DeviceAddress right, call.on.addressOf(b));
  KERF_TRY(const DeviceAddress to, call.on.addressOf(out, true));
  arguments.add(left).add(right).add(to).add(out.size(0)).add(out.size(1)).add(a.size(1));
  for (const Tensor* tensor : {&a, &b, &out}) arguments.add(tensor->strides()[0]).add(tensor->strides()[1]);
  arguments.add(across);
  KERF_CHECK(call.on.library.launch(integerSource, "kerf_int_mm", {}, blocks, 256, arguments));
  return true;
}

constexpr DeviceOp rows[] = {{.op = "aten._int_mm.default", .run = intProduct}};

}  // namespace

std::span<const DeviceOp> integerDeviceOps() { return rows; }
std::vector<LibraryKernel> integerKernels() { return {{integerSource, "kerf_int_mm", {}}}; }

}  // namespace kerf::inline backend
