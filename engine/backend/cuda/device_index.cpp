// Writes by index and copies on the device.
#include <algorithm>

#include "engine/backend/cuda/device_checks.h"
#include "engine/backend/cuda/device_ops.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline backend {
namespace {

/// Rows that are written by index: which place each is for, which come one after the other at one place, and the sums.
/// No order of threads changes a result.
constexpr std::string_view putSource = R"cuda(
struct KerfIndices {
  const long long* at[4];
  KerfShape shapes[4];
  long long sizes[4], strides[4], count, skipped;  // skipped: an index that is left out, from 0 on
};

// The place of every row in `out`, or -1.
extern "C" __global__ void kerf_put_places(long long* places, KerfIndices indices, long long rows, int wraps, unsigned long long number,
                                           unsigned long long* found) {
  const long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= rows) return;
  long long place = 0;
  for (int k = 0; k < (int)indices.count; ++k) {
    long long index = indices.at[k][kerf_place(indices.shapes[k], n)];
    if (indices.skipped >= 0 && index == indices.skipped) { place = -1; break; }
    if (wraps && index < 0) index += indices.sizes[k];
    if (index < 0 || index >= indices.sizes[k]) {
      if (atomicCAS(found, 0ull, number + k) == 0ull) found[1] = (unsigned long long)indices.at[k][kerf_place(indices.shapes[k], n)];
      place = -1;
      break;
    }
    place += index * indices.strides[k];
  }
  places[n] = place;
}

// Rows of one place as a list, in whatever order they come: found by a table of `slots` keys (a place and 1; 0 where there is
// none) and the row that each list begins with.
__device__ __forceinline__ long long kerf_slot(const unsigned long long* keys, unsigned long long key, long long slots) {
  long long slot = (long long)((key * 0x9E3779B97F4A7C15ull >> 20) % (unsigned long long)slots);
  while (keys[slot] != key && keys[slot] != 0) slot = slot + 1 < slots ? slot + 1 : 0;
  return slot;
}
extern "C" __global__ void kerf_put_lists(const long long* places, unsigned long long* keys, int* heads, int* links, long long rows, long long slots) {
  const long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= rows || places[n] < 0) return;
  const unsigned long long key = (unsigned long long)places[n] + 1;
  long long slot = kerf_slot(keys, key, slots);
  for (;;) {
    const unsigned long long there = atomicCAS(keys + slot, 0ull, key);
    if (there == 0 || there == key) break;
    slot = slot + 1 < slots ? slot + 1 : 0;
  }
  links[n] = atomicExch(heads + slot, (int)n + 1);
}

// Per row, the next one for the same place, or -1; and in `first` whether none comes before it. The order of a list changes neither.
extern "C" __global__ void kerf_put_chains(const long long* places, const unsigned long long* keys, const int* heads, const int* links,
                                           long long* next, unsigned char* first, long long rows, long long slots) {
  const long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= rows) return;
  long long after = -1;
  bool isFirst = places[n] >= 0;
  if (isFirst)
    for (long long m = heads[kerf_slot(keys, (unsigned long long)places[n] + 1, slots)]; m > 0; m = links[m - 1]) {
      if (m - 1 < n) isFirst = false;
      if (m - 1 > n && (after < 0 || m - 1 < after)) after = m - 1;
    }
  next[n] = after;
  first[n] = isFirst;
}

extern "C" __global__ void kerf_put(T* out, const T* values, const long long* places, const long long* next, const unsigned char* first,
                                    KerfShape outRest, KerfShape valueRows, KerfShape valueRest, long long rows, long long width,
                                    int accumulates) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < rows * width; i += step) {
    const long long n = i / width, column = i % width;
    if (!first[n]) continue;
    T* const to = out + places[n] + kerf_place(outRest, column);
    const T* const from = values + kerf_place(valueRest, column);
    A sum = accumulates ? (A)FROM(*to) : (A)0;
    for (long long m = n; m >= 0; m = next[m]) {
      const A value = (A)FROM(from[kerf_place(valueRows, m)]);
      sum = accumulates ? sum + value : value;
    }
    *to = TO(sum);
  }
}
)cuda";

/// More rows, if all are for one place, would be compared with each other for too long.
constexpr std::int64_t mostRows = 1 << 16;

KernelMacros macrosOf(DType from, DType to) {
  const DType sum = isFloating(to) ? (to == DType::Float64 ? DType::Float64 : DType::Float32) : DType::Int64;
  return {{"T", std::string(memoryType(from))},
          {"O", std::string(memoryType(to))},
          {"A", std::string(memoryType(sum))},
          {"FROM(x)", convertText("(x)", from, sum)},
          {"TO(x)", convertText("(x)", sum, to)}};
}

/// A write by index as the kernels take it: index tensors over the first dimensions of `out`.
struct Put {
  const Tensor& out;
  std::vector<const Tensor*> indices;
  Sizes rowSizes;        ///< what the index tensors broadcast to
  const Tensor& values;  ///< broadcasts to rowSizes and the rest of out's sizes
  bool accumulates = false, wraps = true;
  std::int64_t skipped = -1;  ///< negative: none
};

struct Indices {
  const void* at[4] = {};
  DeviceShape shapes[4];
  long long sizes[4] = {}, strides[4] = {}, count = 0, skipped = 0;
};

std::int64_t product(const Sizes& sizes, std::size_t from = 0) {
  std::int64_t result = 1;
  for (std::size_t d = from; d < sizes.size(); ++d) result *= sizes[d];
  return result;
}

/// Strides of a tensor seen with these sizes, which end as its own do or repeat them.
std::optional<Sizes> repeatedStrides(const Tensor& tensor, const Sizes& sizes) {
  if (tensor.sizes().size() > sizes.size()) return {};
  Sizes strides(sizes.size(), 0);
  const std::size_t lead = sizes.size() - tensor.sizes().size();
  for (std::size_t d = lead; d < sizes.size(); ++d) {
    if (tensor.sizes()[d - lead] == sizes[d] && sizes[d] != 1)
      strides[d] = tensor.strides()[d - lead];
    else if (tensor.sizes()[d - lead] != 1)
      return {};
  }
  return strides;
}

bool isTaken(const Put& put) {
  const bool known = !memoryType(put.out.dtype()).empty() && put.out.dtype() != DType::Bool;
  const auto isIndex = [](const Tensor* t) { return t->dtype() == DType::Int64; };
  Sizes whole = put.rowSizes;
  for (std::size_t d = put.indices.size(); d < put.out.sizes().size(); ++d) whole.push_back(put.out.sizes()[d]);
  return known && !put.indices.empty() && put.indices.size() <= 4 && std::ranges::all_of(put.indices, isIndex) &&
         product(put.rowSizes) <= mostRows && whole.size() <= DeviceShape::most &&
         put.values.dtype() == put.out.dtype() && repeatedStrides(put.values, whole).has_value();
}

Result<bool> putRows(const DeviceCall& call, const Put& put) {
  const std::size_t count = put.indices.size(), rank = put.rowSizes.size();
  const Sizes &sizes = put.out.sizes(), &strides = put.out.strides();
  const std::int64_t rows = product(put.rowSizes), width = product(sizes, count);
  if (rows == 0 || width == 0) return true;
  Indices indices;
  indices.count = (long long)(count), indices.skipped = put.skipped;
  for (std::size_t k = 0; k < count; ++k) {
    KERF_TRY(const DeviceAddress at, call.on.addressOf(*put.indices[k]));
    KERF_TRY(indices.shapes[k], DeviceShape::of(put.rowSizes, *repeatedStrides(*put.indices[k], put.rowSizes)));
    indices.at[k] = reinterpret_cast<const void*>(at);
    indices.sizes[k] = sizes[k], indices.strides[k] = strides[k];
  }
  std::uint64_t last = 0;
  for (std::size_t k = 0; k < count; ++k)
    last = call.on.checks.announce({call.args.opName(), {}, sizes[k], std::int64_t(k), put.wraps});
  const std::uint64_t number = last + 1 - count;  // of the first
  KERF_TRY(const DeviceAddress places, call.on.scratch.take(rows * 8));
  KERF_TRY(const DeviceAddress next, call.on.scratch.take(rows * 8));
  KERF_TRY(const DeviceAddress first, call.on.scratch.take(rows));
  const KernelMacros macros = macrosOf(put.out.dtype(), put.out.dtype());
  const std::int64_t blocks = (rows + 255) / 256;
  const std::int64_t slots = 2 * rows;
  KERF_TRY(const DeviceAddress keys, call.on.scratch.take(slots * 8));
  KERF_TRY(const DeviceAddress heads, call.on.scratch.take(slots * 4));
  KERF_TRY(const DeviceAddress links, call.on.scratch.take(rows * 4));
  KERF_CHECK(call.on.queue.clear(keys, slots * 8));
  KERF_CHECK(call.on.queue.clear(heads, slots * 4));
  KernelArguments placing, listing, chaining, putting;
  placing.add(places).add(indices).add(rows).add(int(put.wraps)).add(number).add(call.on.checks.found());
  KERF_CHECK(call.on.library.launch(putSource, "kerf_put_places", macros, blocks, 256, placing));
  listing.add(places).add(keys).add(heads).add(links).add(rows).add(slots);
  KERF_CHECK(call.on.library.launch(putSource, "kerf_put_lists", macros, blocks, 256, listing));
  chaining.add(places).add(keys).add(heads).add(links).add(next).add(first).add(rows).add(slots);
  KERF_CHECK(call.on.library.launch(putSource, "kerf_put_chains", macros, blocks, 256, chaining));
  Sizes whole = put.rowSizes;
  whole.insert(whole.end(), sizes.begin() + std::ptrdiff_t(count), sizes.end());
  const Sizes all = *repeatedStrides(put.values, whole);
  const auto part = [&](const Sizes& of, std::size_t from, std::size_t to) {
    return Sizes(of.begin() + std::ptrdiff_t(from), of.begin() + std::ptrdiff_t(to));
  };
  KERF_TRY(const DeviceShape outRest,
           DeviceShape::of(part(sizes, count, sizes.size()), part(strides, count, strides.size())));
  KERF_TRY(const DeviceShape valueRows, DeviceShape::of(put.rowSizes, part(all, 0, rank)));
  KERF_TRY(const DeviceShape valueRest, DeviceShape::of(part(whole, rank, whole.size()), part(all, rank, all.size())));
  KERF_TRY(const DeviceAddress to, call.on.addressOf(put.out, true));
  KERF_TRY(const DeviceAddress from, call.on.addressOf(put.values));
  putting.add(to).add(from).add(places).add(next).add(first).add(outRest).add(valueRows).add(valueRest);
  putting.add(rows).add(width).add(int(put.accumulates));
  KERF_CHECK(
      call.on.library.launch(putSource, "kerf_put", macros, call.on.library.blocksFor(rows * width), 256, putting));
  return true;
}

Result<void> copyInto(const DeviceCall& call, const Tensor& from, const Sizes& fromStrides, const Tensor& to) {
  KERF_TRY(const DeviceAddress target, call.on.addressOf(to, true));
  KERF_TRY(const DeviceAddress source, call.on.addressOf(from));
  return call.on.library.copy(to.sizes(), target, to.strides(), source, fromStrides, itemSize(to.dtype()));
}

/// index_put(self, indices, values, accumulate)
Result<bool> indexPut(const DeviceCall& call) {
  const Tensor &self = call.args.tensor(0), &out = call.out(0);
  std::vector<const Tensor*> indices;
  Sizes rows;
  for (const Value& item : call.args.values[1].list()) {
    if (!item.isTensor()) return false;
    indices.push_back(&item.tensor());
    const Sizes& sizes = item.tensor().sizes();
    if (sizes.size() > rows.size()) rows.insert(rows.begin(), sizes.size() - rows.size(), 1);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      auto& size = rows[rows.size() - sizes.size() + d];
      if (size == 1) size = sizes[d];
    }
  }
  for (const Tensor* index : indices)
    if (!repeatedStrides(*index, rows)) return false;
  const Put put{out, indices, rows, call.args.tensor(2), call.args.boolean(3)};
  if (indices.size() > self.sizes().size() || !isTaken(put)) return false;
  if (out.storage() != self.storage()) KERF_CHECK(copyInto(call, self, self.strides(), out));
  return putRows(call, put);
}

/// embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)
Result<bool> embeddingBackward(const DeviceCall& call) {
  const Tensor &out = call.out(0), &indices = call.args.tensor(1);
  Put put{out, {&indices}, indices.sizes(), call.args.tensor(0), true, false};
  put.skipped = call.args.integer(3);
  if (call.args.boolean(4) || !isTaken(put)) return false;
  KERF_TRY(const DeviceAddress place, call.on.addressOf(out, true));
  KERF_CHECK(call.on.queue.clear(place, out.byteSize()));
  return putRows(call, put);
}

/// copy_(self, src): of one dtype.
Result<bool> copyIn(const DeviceCall& call) {
  const Tensor &self = call.args.tensor(0), &source = call.args.tensor(1);
  const auto strides = repeatedStrides(source, self.sizes());
  if (source.dtype() != self.dtype() || !strides || source.storage() == self.storage()) return false;
  if (self.sizes().size() > DeviceShape::most) return false;
  KERF_CHECK(copyInto(call, source, *strides, self));
  return true;
}

/// as_strided_scatter(self, src, size, stride, storage_offset), where self lies row by row from the start on.
Result<bool> stridedScatter(const DeviceCall& call) {
  const Tensor &self = call.args.tensor(0), &source = call.args.tensor(1), &out = call.out(0);
  const Sizes size = call.args.sizes(2), stride = call.args.sizes(3);
  const std::int64_t offset = call.args.integerIf(4).value_or(self.offset());
  if (!self.isContiguous() || !out.isContiguous() || self.offset() != 0 || source.sizes() != size) return false;
  if (source.dtype() != out.dtype() || size.size() > DeviceShape::most || source.numel() == 0) return false;
  const Tensor place = out.viewAs(size, stride, out.offset() + offset);
  if (!place.inBounds()) return false;
  KERF_CHECK(copyInto(call, self, self.strides(), out));
  KERF_CHECK(copyInto(call, source, source.strides(), place));
  return true;
}

constexpr DeviceOp rows[] = {
    {.op = "aten.index_put.default", .run = indexPut},
    {.op = "aten._unsafe_index_put.default", .run = indexPut},
    {.op = "aten.index_put_.default", .run = indexPut, .inPlace = true},
    {.op = "aten.embedding_dense_backward.default", .run = embeddingBackward},
    {.op = "aten.copy_.default", .run = copyIn, .inPlace = true},
    {.op = "aten.as_strided_scatter.default", .run = stridedScatter},
};

}  // namespace

std::vector<LibraryKernel> indexKernels() {
  std::vector<LibraryKernel> all;
  for (const DType dtype :
       {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Int64, DType::Int32, DType::UInt8})
    for (const char* name : {"kerf_put_places", "kerf_put_lists", "kerf_put_chains", "kerf_put"})
      all.push_back({putSource, name, macrosOf(dtype, dtype)});
  return all;
}

std::span<const DeviceOp> indexDeviceOps() { return rows; }

}  // namespace kerf::inline backend
