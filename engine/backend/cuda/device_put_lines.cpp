// Writes of elements along lines: a block for each line sorts the places that are written in its shared memory, so that nothing but
// the operands goes through the device's.
#include <algorithm>
#include <bit>

#include "engine/backend/cuda/device_checks.h"
#include "engine/backend/cuda/device_lines.h"
#include "engine/backend/cuda/device_put.h"

namespace kerf::inline backend {
namespace {

constexpr std::int64_t sharedBytes = 47 << 10, bytesOfWarp = 512, pieceKeys = 32;
/// Lines from which on their blocks copy what is not written too; and elements that one block may copy in any case.
constexpr std::int64_t manyLines = 128, fewElements = 1 << 15;

constexpr std::string_view linesSource = R"cuda(
struct KerfLinePut {
  T* out;
  const T *self, *values;  // self is null where there are zeros
  const long long* index;
  KerfShape outLines, selfLines, valueLines, indexLines, valueInner, indexInner;
  double factor;
  long long wholeFactor, lines, size, places, outStep, selfStep, includes;
  int mean, copies, bits, wraps;
};

extern "C" __global__ void __launch_bounds__(W * 32, W > 8 ? 2 : 4) kerf_put_lines(KerfLinePut put, unsigned long long number, unsigned long long* found) {
  constexpr int PIECE = 32;
  static_assert(EACH <= 8, "numbers lie where the counts were");
  __shared__ KerfSpace space;
  __shared__ A some[KERF_LINE], parts[KERF_LINE / PIECE];
  for (long long line = blockIdx.x; line < put.lines; line += gridDim.x) {
    T* const out = put.out + kerf_place(put.outLines, line);
    const T* const self = put.self ? put.self + kerf_place(put.selfLines, line) : nullptr;
    const T* const values = put.values + kerf_place(put.valueLines, line);
    const long long* const index = put.index + kerf_place(put.indexLines, line);
    if (put.copies)
      for (long long i = threadIdx.x; i < put.places; i += KERF_THREADS) out[i * put.outStep] = self ? self[i * put.selfStep] : (T)TO((A)0);
    #pragma unroll 1
    for (int at = threadIdx.x; at < KERF_LINE; at += KERF_THREADS) {
      space.keys[at] = ~(K)0;
      if (at >= put.size) continue;
      const long long given = index[kerf_place(put.indexInner, at)], place = put.wraps && given < 0 ? given + put.places : given;
      const bool inside = place >= 0 && place < put.places;
      if (!inside && atomicCAS(found, 0ull, number) == 0ull) found[1] = (unsigned long long)given;
      space.keys[at] = inside ? (K)place : (K)put.places;
    }
    K own[EACH];
    unsigned short order[EACH];
    kerf_take_line(own, order, space);
    kerf_sort_block(own, order, space, 0, put.bits);
    unsigned short* const numbers = space.counts;
    #pragma unroll
    for (int k = 0; k < EACH; ++k) numbers[kerf_line_place(k)] = order[k], space.keys[kerf_line_place(k)] = own[k];
    __syncthreads();
    #pragma unroll 1
    for (int at = threadIdx.x; at < (int)put.size; at += KERF_THREADS)
      some[at] = (A)FROM(values[kerf_place(put.valueInner, numbers[at])]) * (A)FACTOR(put);
    __syncthreads();
    #pragma unroll 1
    for (int piece = threadIdx.x; piece < KERF_LINE / PIECE; piece += KERF_THREADS) {
      const int begin = piece * PIECE;
      if ((long long)space.keys[begin] >= put.places || space.keys[begin] != space.keys[begin + PIECE - 1]) continue;
      A sum = START;
      for (int i = 0; i < PIECE; ++i) sum = COMBINE(sum, some[begin + i]);
      parts[piece] = sum;
    }
    __syncthreads();
    #pragma unroll 1
    for (int first = threadIdx.x; first < (int)put.size; first += KERF_THREADS) {
      int at = first;
      const K key = space.keys[at];
      if ((long long)key >= put.places || (at > 0 && space.keys[at - 1] == key)) continue;
      A sum = self ? (A)FROM(self[key * put.selfStep]) : (A)0;
      if (!put.includes) sum = START;
      long long count = put.includes;
      while (at < KERF_LINE && space.keys[at] == key) {
        const bool isPiece = at % PIECE == 0 && space.keys[at + PIECE - 1] == key;
        sum = isPiece ? COMBINE(sum, parts[at / PIECE]) : COMBINE(sum, some[at]);
        at += isPiece ? PIECE : 1, count += isPiece ? PIECE : 1;
      }
      out[key * put.outStep] = put.mean && count > 1 ? (T)TO(OVER(sum, count)) : (T)TO(sum);
    }
    __syncthreads();
  }
}
)cuda";

// As the kernel takes it.
struct LineWrites {
  DeviceAddress out = 0, self = 0, values = 0, index = 0;
  DeviceShape outLines, selfLines, valueLines, indexLines, valueInner, indexInner;
  double factor = 1;
  long long wholeFactor = 1, lines = 0, size = 0, places = 0, outStep = 0, selfStep = 0, includes = 1;
  int mean = 0, copies = 0, bits = 0, wraps = 0;
};

const std::string& linesText() {
  static const std::string text = std::string(lineSource()) + std::string(linesSource);
  return text;
}

/// Keys of 4 bytes and what they are combined in have to fit into shared memory.
std::optional<LineForm> putForm(std::int64_t size, DType dtype) {
  const auto form = lineFormOf(size, 4);
  if (!form) return {};
  const std::int64_t each = 4 + itemSize(sumType(dtype));
  const std::int64_t bytes = form->most() * each + form->most() / pieceKeys * 8 + form->warps * bytesOfWarp;
  return bytes <= sharedBytes ? form : std::nullopt;
}

KernelMacros linePutMacros(DType dtype, PutKind kind, LineForm form) {
  KernelMacros macros = putMacros(dtype, kind, 4, 1, false, {1, 1});
  for (auto& macro : lineMacros(form)) macros.push_back(std::move(macro));
  return macros;
}

/// `rows` as the lines that `along` names, and what is written in each: sizes, or strides over them.
struct Divided {
  Sizes lines, inner;
};
Divided divided(const DevicePut& put, const Sizes& rows) {
  Divided result;
  for (const std::size_t d : put.rowDims) result.lines.push_back(rows[d]);
  for (std::size_t d = 0; d < rows.size(); ++d)
    if (std::ranges::find(put.rowDims, d) == put.rowDims.end()) result.inner.push_back(rows[d]);
  return result;
}

std::int64_t elementsOf(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

Result<void> shapeLines(const DevicePut& put, const Tensor& self, LineWrites& writes) {
  const auto strides = [&](const Tensor& tensor) {
    Sizes along;
    for (const std::size_t d : put.along) along.push_back(tensor.strides()[d]);
    return along;
  };
  const Divided sizes = divided(put, put.rows), values = divided(put, put.valueRows),
                index = divided(put, put.indexStrides[0]);
  KERF_TRY(writes.outLines, DeviceShape::merged(sizes.lines, strides(*put.out)));
  KERF_TRY(writes.selfLines, DeviceShape::merged(sizes.lines, strides(self)));
  KERF_TRY(writes.valueLines, DeviceShape::merged(sizes.lines, values.lines));
  KERF_TRY(writes.indexLines, DeviceShape::merged(sizes.lines, index.lines));
  KERF_TRY(writes.valueInner, DeviceShape::merged(sizes.inner, values.inner));
  KERF_TRY(writes.indexInner, DeviceShape::merged(sizes.inner, index.inner));
  writes.lines = elementsOf(sizes.lines), writes.size = elementsOf(sizes.inner);
  writes.outStep = put.out->strides()[put.indexed[0]], writes.selfStep = self.strides()[put.indexed[0]];
  return {};
}

/// Whether the lines that are written are all there are.
bool coversAll(const DevicePut& put) {
  for (std::size_t i = 0; i < put.along.size(); ++i)
    if (put.rows[put.rowDims[i]] != put.out->sizes()[put.along[i]]) return false;
  return true;
}

}  // namespace

Result<bool> putAlongLines(const DeviceCall& call, const DevicePut& put) {
  if (put.indices.size() != 1 || put.indexed.size() != 1 || !put.rest.empty() || put.skipped >= 0) return false;
  const Tensor& out = *put.out;
  const std::int64_t places = out.sizes()[put.indexed[0]], step = out.strides()[put.indexed[0]];
  const std::int64_t size = elementsOf(divided(put, put.rows).inner), lines = elementsOf(divided(put, put.rows).lines);
  const auto form = putForm(size, out.dtype());
  if (!form || size == 0 || lines == 0 || places >= std::int64_t{1} << 31 || (step != 1 && places > 1)) return false;
  const bool inPlace = put.self != nullptr && put.self->storage() == out.storage();
  const bool copies = !inPlace && coversAll(put) && (lines >= manyLines || out.numel() <= fewElements);
  LineWrites writes;
  writes.factor = put.factor, writes.wholeFactor = std::int64_t(put.factor);
  writes.places = places, writes.includes = put.includesSelf, writes.mean = put.kind == PutKind::Mean,
  writes.wraps = put.wraps;
  writes.copies = copies, writes.bits = int(std::bit_width(std::uint64_t(std::max<std::int64_t>(places, 1))));
  KERF_CHECK(shapeLines(put, copies && put.self ? *put.self : out, writes));
  KERF_TRY(writes.out, call.on.addressOf(out, true));
  writes.values = put.values;
  if (copies && put.self) {
    KERF_TRY(writes.self, call.on.addressOf(*put.self));
  }
  if (!copies) {
    if (!put.self) KERF_CHECK(call.on.queue.clear(writes.out, out.byteSize()));
    if (put.self && !inPlace) KERF_CHECK(copyInto(call, *put.self, put.self->strides(), out));
    writes.self = writes.out;
  }
  KERF_TRY(writes.index, call.on.addressOf(*put.indices[0]));
  const std::uint64_t number =
      call.on.checks.announce({call.args.opName(), {}, places, std::int64_t(put.indexed[0]), put.wraps});
  KernelArguments arguments;
  arguments.add(writes).add(number).add(call.on.checks.found());
  KERF_CHECK(call.on.library.launch(linesText(), "kerf_put_lines", linePutMacros(out.dtype(), put.kind, *form),
                                    std::min<std::int64_t>(lines, std::int64_t{1} << 30), form->warps * 32, arguments));
  return true;
}

std::vector<LibraryKernel> linePutKernels() {
  std::vector<LibraryKernel> all;
  const auto add = [&](DType dtype, PutKind kind, LineForm form) {
    all.push_back({linesText(), "kerf_put_lines", linePutMacros(dtype, kind, form)});
  };
  for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16}) add(dtype, PutKind::Sum, {16, 8});
  for (const DType dtype : {DType::Float64, DType::Int64, DType::Int32}) add(dtype, PutKind::Max, {8, 8});
  add(DType::Bool, PutKind::Assign, {1, 4});
  add(DType::BFloat16, PutKind::Mean, {4, 4});
  return all;
}

}  // namespace kerf::inline backend
