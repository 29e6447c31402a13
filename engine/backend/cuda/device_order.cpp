// sort, argsort, topk and kthvalue on the device: all lines at once, first by their values, then by the number of the line.
#include <bit>

#include "engine/backend/cuda/device_lines.h"
#include "engine/backend/cuda/device_sort.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline backend {
namespace {

/// Keys in the order of the values: NaN behind everything, both zeros one; turned round for a descending order, in which equal
/// ones stay in their order too.
constexpr std::string_view orderedKeys = R"cuda(
__device__ __forceinline__ unsigned int kerf_ordered(float x) {
  const unsigned int bits = __float_as_uint(x);
  return x != x ? 0xffffffffu : x == 0 ? 0x80000000u : bits >> 31 ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ unsigned long long kerf_ordered(double x) {
  const unsigned long long bits = (unsigned long long)__double_as_longlong(x);
  return x != x ? ~0ull : x == 0 ? 1ull << 63 : bits >> 63 ? ~bits : bits | 1ull << 63;
}
__device__ __forceinline__ K kerf_ordered(long long x) { return (K)x ^ (K)1 << (sizeof(K) * 8 - 1); }
)cuda";

constexpr std::string_view orderSource = R"cuda(
extern "C" __global__ void kerf_line_keys(const T* from, K* keys, KerfShape lines, long long size, long long step, long long count,
                                          int descending) {
  const long long all = (long long)gridDim.x * blockDim.x;
  for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += all) {
    const long long line = n / size;
    const K key = kerf_ordered(FROM(from[kerf_place(lines, line) + (n - line * size) * step]));
    keys[n] = descending ? ~key : key;
  }
}

extern "C" __global__ void kerf_line_numbers(unsigned int* keys, const int* order, long long size, long long count) {
  const long long all = (long long)gridDim.x * blockDim.x;
  for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += all) keys[n] = (unsigned int)(order[n] / size);
}

// Of each line those from `first` on, `kept` of them; `values` may be null.
extern "C" __global__ void kerf_line_picks(const T* from, T* values, long long* places, const int* order, KerfShape lines, KerfShape valueLines,
                                           KerfShape placeLines, long long size, long long step, long long valueStep, long long placeStep,
                                           long long first, long long kept, long long count) {
  const long long all = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += all) {
    const long long line = i / kept, k = i - line * kept, at = order[line * size + first + k] - line * size;
    if (values) values[kerf_place(valueLines, line) + k * valueStep] = from[kerf_place(lines, line) + at * step];
    places[kerf_place(placeLines, line) + k * placeStep] = at;
  }
}
)cuda";

const std::string& orderText() {
  static const std::string text = std::string(orderedKeys) + std::string(orderSource);
  return text;
}

struct KeyForm {
  std::int64_t bytes = 4;
  int from = 0, to = 32;  ///< bits that tell values apart
};
KeyForm keyFormOf(DType dtype) {
  if (itemSize(dtype) == 8) return {8, 0, 64};
  if (dtype == DType::BFloat16) return {4, 16, 32};
  if (dtype == DType::Float16) return {4, 8, 32};
  return {};
}

/// One operand's lines along `dim`, and the step along each; a result that keeps no such dimension has one element of each.
struct DeviceLines {
  DeviceShape shape;
  std::int64_t step = 0;
};
Result<DeviceLines> linesOf(const Tensor& tensor, std::size_t dim, std::int64_t rank) {
  if (tensor.dim() < rank) {
    KERF_TRY(const DeviceShape shape, DeviceShape::merged(tensor.sizes(), tensor.strides()));
    return DeviceLines{shape, 0};
  }
  Sizes sizes = tensor.sizes();
  sizes[dim] = 1;
  KERF_TRY(const DeviceShape shape, DeviceShape::merged(sizes, tensor.strides()));
  return DeviceLines{shape, tensor.strides()[dim]};
}

/// Of every line along `dim` the places from `first` on in its order, `kept` of them.
Result<bool> pickOrdered(const DeviceCall& call, bool descending, std::int64_t first, std::int64_t kept) {
  const Tensor& self = call.args.tensor(0);
  const std::int64_t given = call.args.integer(call.args.position("dim")), count = self.numel();
  const bool isOrdered = self.dtype() != DType::UInt32 && self.dtype() != DType::UInt64;  // as signed numbers are
  if (memoryType(self.dtype()).empty() || !isOrdered || self.dim() == 0 || count >= std::int64_t{1} << 31) return false;
  const auto dim = std::size_t(given < 0 ? given + self.dim() : given);
  const bool hasValues = call.outs.size() > 1;
  const Tensor& places = call.out(hasValues ? 1 : 0);
  const std::int64_t size = self.sizes()[dim];
  if (places.numel() == 0) return true;
  KERF_TRY(const DeviceLines lines, linesOf(self, dim, self.dim()));
  KERF_TRY(const DeviceLines placeLines, linesOf(places, dim, self.dim()));
  KERF_TRY(const DeviceLines valueLines, linesOf(call.out(0), dim, self.dim()));
  KERF_TRY(const DeviceAddress from, call.on.addressOf(self));
  DeviceAddress values = 0;
  if (hasValues) {
    KERF_TRY(values, call.on.addressOf(call.out(0), true));
  }
  KERF_TRY(const DeviceAddress to, call.on.addressOf(places, true));
  const KernelMacros macros = orderMacros(self.dtype());
  const KeyForm form = keyFormOf(self.dtype());
  OrderedLines ordered{
      from,           values, to, lines.shape, valueLines.shape, placeLines.shape, size, lines.step, valueLines.step,
      placeLines.step};
  ordered.first = first, ordered.kept = kept, ordered.count = count / size;
  ordered.descending = int(descending), ordered.low = form.from, ordered.high = form.to;
  KERF_TRY(const bool byLines, orderLines(call, ordered, macros, form.bytes));
  if (byLines) return true;
  const auto launch = [&](const char* name, std::int64_t elements, KernelArguments& arguments) {
    return call.on.library.launch(orderText(), name, macros, call.on.library.blocksFor(elements), 256, arguments);
  };
  DeviceKeys keys{0, 0, count, form.bytes};
  KERF_TRY(keys.keys, call.on.scratch.take(count * form.bytes));
  KernelArguments keying, numbering, picking;
  keying.add(from).add(keys.keys).add(lines.shape).add(size).add(lines.step).add(count).add(int(descending));
  KERF_CHECK(launch("kerf_line_keys", count, keying));
  KERF_TRY(keys, sortKeys(call.on, keys, form.from, form.to));
  if (count > size) {
    DeviceKeys numbers{0, keys.order, count, 4};
    KERF_TRY(numbers.keys, call.on.scratch.take(count * 4));
    numbering.add(numbers.keys).add(numbers.order).add(size).add(count);
    KERF_CHECK(launch("kerf_line_numbers", count, numbering));
    KERF_TRY(keys, sortKeys(call.on, numbers, 0, std::bit_width(std::uint64_t(count / size - 1))));
  }
  picking.add(from).add(values).add(to).add(keys.order).add(lines.shape).add(valueLines.shape).add(placeLines.shape);
  picking.add(size)
      .add(lines.step)
      .add(valueLines.step)
      .add(placeLines.step)
      .add(first)
      .add(kept)
      .add(count / size * kept);
  KERF_CHECK(launch("kerf_line_picks", count / size * kept, picking));
  return true;
}

std::int64_t lineSize(const DeviceCall& call) {
  const Tensor& self = call.args.tensor(0);
  const std::int64_t dim = call.args.integer(call.args.position("dim"));
  return self.dim() == 0 ? 1 : self.sizes()[std::size_t(dim < 0 ? dim + self.dim() : dim)];
}

/// sort(self, dim, descending), argsort: whole lines.
Result<bool> sort(const DeviceCall& call) {
  return pickOrdered(call, call.args.boolean(call.args.position("descending")), 0, lineSize(call));
}
/// topk(self, k, dim, largest, sorted)
Result<bool> topk(const DeviceCall& call) { return pickOrdered(call, call.args.boolean(3), 0, call.args.integer(1)); }
/// kthvalue(self, k, dim, keepdim)
Result<bool> kthValue(const DeviceCall& call) { return pickOrdered(call, false, call.args.integer(1) - 1, 1); }

constexpr DeviceOp rows[] = {
    {.op = "aten.sort.default", .run = sort},    {.op = "aten.sort.stable", .run = sort},
    {.op = "aten.argsort.default", .run = sort}, {.op = "aten.argsort.stable", .run = sort},
    {.op = "aten.topk.default", .run = topk},    {.op = "aten.kthvalue.default", .run = kthValue},
};

}  // namespace

std::span<const DeviceOp> orderDeviceOps() { return rows; }

std::string_view keySource() { return orderedKeys; }

KernelMacros orderMacros(DType dtype) {
  KernelMacros macros = typeMacros(dtype, dtype);
  macros.emplace_back("K", keyType(keyFormOf(dtype).bytes));
  return macros;
}

std::vector<LibraryKernel> orderKernels() {
  std::vector<LibraryKernel> all;
  for (const DType dtype :
       {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Int64, DType::Int32, DType::Bool})
    for (const char* name : {"kerf_line_keys", "kerf_line_numbers", "kerf_line_picks"})
      all.push_back({orderText(), name, orderMacros(dtype)});
  return all;
}

}  // namespace kerf::inline backend
