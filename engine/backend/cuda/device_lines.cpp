#include "engine/backend/cuda/device_lines.h"

#include <iterator>

#include "engine/backend/cuda/device_sort.h"

namespace kerf::inline backend {
namespace {

/// Lines and bytes of shared memory that a block has without asking for more: 48 KB, of which counts take 512 bytes a
/// warp.
constexpr LineForm forms[] = {{1, 4}, {4, 4}, {4, 8}, {8, 8}, {16, 8}, {16, 16}, {16, 32}};
constexpr std::int64_t mostKeyBytes = 32 << 10;
/// A line that is read over and over by one block, where there are not so many lines, leaves the device idle.
constexpr std::int64_t fewLines = 64, longLine = 1 << 15;
/// Of a line's keys, the share from which on sorting all of it costs no more than finding them.
constexpr std::int64_t largeShare = 4;

constexpr std::string_view prefixText = R"cuda(
// The sum of what the threads before this one have; `total` becomes everyone's.
template <int WARPS>
__device__ __forceinline__ unsigned int kerf_before(unsigned int value, unsigned int* warps, unsigned int& total) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned int sum = value;
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned int left = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane >= distance) sum += left;
  }
  __syncthreads();
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  unsigned int before = sum - value;
  total = 0;
  for (int w = 0; w < WARPS; ++w) {
    if (w < warp) before += warps[w];
    total += warps[w];
  }
  return before;
}
)cuda";

/// Each digit of 8 bits: how many of it each warp has, where each warp's begin, and where each key goes. Keys and then
/// their numbers change places in shared memory.
constexpr std::string_view blockSource = R"cuda(
constexpr int KERF_THREADS = W * 32, KERF_LINE = KERF_THREADS * EACH;
struct KerfSpace {
  K keys[KERF_LINE];
  unsigned short counts[W * 256];
  unsigned int warps[W];
};

// Key k of a thread has this place in the line.
__device__ __forceinline__ int kerf_line_place(int k) { return (threadIdx.x / 32 * EACH + k) * 32 + threadIdx.x % 32; }

// Keys of a line as they lie in shared memory, which is free afterwards.
__device__ __forceinline__ void kerf_take_line(K (&own)[EACH], unsigned short (&order)[EACH], const KerfSpace& space) {
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < EACH; ++k) own[k] = space.keys[kerf_line_place(k)], order[k] = (unsigned short)kerf_line_place(k);
  __syncthreads();
}

// Sorts by the bits from `low` to `high`, at least one: afterwards `order` tells where each place's key was, and so do the places
// of the keys, as 16 bits each.
__device__ __forceinline__ void kerf_sort_block(K (&own)[EACH], unsigned short (&order)[EACH], KerfSpace& space, int low, int high) {
  constexpr int DIGITS = KERF_THREADS < 256 ? 256 / KERF_THREADS : 1;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned short* const counts = space.counts + warp * 256;
  for (int shift = low; shift < high; shift += 8) {
    for (int i = threadIdx.x; i < W * 256; i += KERF_THREADS) space.counts[i] = 0;
    __syncthreads();
    unsigned short ranks[EACH];
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
      const unsigned int digit = (unsigned int)(own[k] >> shift) & 255u, peers = __match_any_sync(0xffffffffu, digit);
      const unsigned int before = counts[digit], rank = __popc(peers & ((1u << lane) - 1u));
      __syncwarp();
      if (rank == 0) counts[digit] = (unsigned short)(before + __popc(peers));
      __syncwarp();
      ranks[k] = (unsigned short)(before + rank);
    }
    __syncthreads();
    unsigned int here = 0, all;
    for (int d = 0; d < DIGITS; ++d)
      for (int w = 0; threadIdx.x < 256 && w < W; ++w) here += space.counts[w * 256 + threadIdx.x * DIGITS + d];
    unsigned int next = kerf_before<W>(here, space.warps, all);
    for (int d = 0; d < DIGITS; ++d)
      for (int w = 0; threadIdx.x < 256 && w < W; ++w) {
        unsigned short& place = space.counts[w * 256 + threadIdx.x * DIGITS + d];
        const unsigned int some = place;
        place = (unsigned short)next;
        next += some;
      }
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
      ranks[k] = (unsigned short)(ranks[k] + counts[(unsigned int)(own[k] >> shift) & 255u]);
      space.keys[ranks[k]] = own[k];
    }
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < EACH; ++k) own[k] = space.keys[kerf_line_place(k)];
    __syncthreads();
    unsigned short* const numbers = (unsigned short*)space.keys;
    #pragma unroll
    for (int k = 0; k < EACH; ++k) numbers[ranks[k]] = order[k];
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < EACH; ++k) order[k] = numbers[kerf_line_place(k)];
  }
  __syncthreads();
}
)cuda";

/// Whole lines, and the first of each line's order: by radix selection, a digit at a time from the highest one, until
/// the keys up to the one that is looked for are known; those are sorted.
constexpr std::string_view orderedSource = R"cuda(
struct KerfLines {
  const T* from;
  T* values;
  long long* places;
  KerfShape lines, valueLines, placeLines;
  long long size, step, valueStep, placeStep, first, kept, count;
  int descending, low, high;
};

__device__ __forceinline__ K kerf_line_key(const KerfLines& l, const T* line, long long i) {
  const K key = kerf_ordered(FROM(line[i * l.step]));
  return l.descending ? ~key : key;
}
// What is asked for of a line whose order `at(place)` tells.
template <class At>
__device__ __forceinline__ void kerf_put_ordered(const KerfLines& l, const T* line, long long number, At at) {
  T* const values = l.values ? l.values + kerf_place(l.valueLines, number) : nullptr;
  long long* const places = l.places + kerf_place(l.placeLines, number);
  for (int i = threadIdx.x; i < (int)l.kept; i += KERF_THREADS) {
    const long long from = at((int)l.first + i);
    if (values) values[i * l.valueStep] = line[from * l.step];
    places[i * l.placeStep] = from;
  }
  __syncthreads();
}
)cuda";

constexpr std::string_view sortLinesSource = R"cuda(
extern "C" __global__ void __launch_bounds__(W * 32, EACH > 8 ? 1 : W > 8 ? 2 : 4) kerf_sort_lines(KerfLines l) {
  __shared__ KerfSpace space;
  for (long long number = blockIdx.x; number < l.count; number += gridDim.x) {
    const T* const line = l.from + kerf_place(l.lines, number);
    #pragma unroll 4
    for (int i = threadIdx.x; i < KERF_LINE; i += KERF_THREADS) space.keys[i] = i < l.size ? kerf_line_key(l, line, i) : ~(K)0;
    K own[EACH];
    unsigned short order[EACH];
    kerf_take_line(own, order, space);
    kerf_sort_block(own, order, space, l.low, l.high);
    const unsigned short* const numbers = (const unsigned short*)space.keys;
    kerf_put_ordered(l, line, number, [&](int place) { return (long long)numbers[place]; });
  }
}
)cuda";

constexpr std::string_view selectLinesSource = R"cuda(
extern "C" __global__ void __launch_bounds__(W * 32) kerf_select_lines(KerfLines l) {
  __shared__ KerfSpace space;
  __shared__ unsigned int many[256], found[3];
  __shared__ int picked[KERF_LINE];
  for (long long number = blockIdx.x; number < l.count; number += gridDim.x) {
    const T* const line = l.from + kerf_place(l.lines, number);
    unsigned int need = (unsigned int)(l.first + l.kept);  // of the keys that begin with `prefix`
    K prefix = 0;
    int shift = l.high;
    for (bool all = false; !all && shift > l.low;) {
      shift -= 8;
      for (int i = threadIdx.x; i < 256; i += KERF_THREADS) many[i] = 0;
      __syncthreads();
      for (long long base = 0; base < l.size; base += KERF_THREADS) {
        const long long i = base + threadIdx.x;
        const K key = i < l.size ? kerf_line_key(l, line, i) : (K)0;
        const bool is = i < l.size && (shift + 8 >= l.high || key >> (shift + 8) == prefix >> (shift + 8));
        const unsigned int digit = is ? (unsigned int)(key >> shift) & 255u : 256u, peers = __match_any_sync(0xffffffffu, digit);
        if (is && (peers & ((1u << threadIdx.x % 32) - 1u)) == 0) atomicAdd(many + digit, (unsigned int)__popc(peers));
      }
      __syncthreads();
      unsigned int total;
      const unsigned int here = threadIdx.x < 256 ? many[threadIdx.x] : 0, before = kerf_before<W>(here, space.warps, total);
      if (threadIdx.x < 256 && before < need && need <= before + here) found[0] = threadIdx.x, found[1] = need - before, found[2] = here;
      __syncthreads();
      prefix |= (K)found[0] << shift, need = found[1], all = found[1] == found[2];
      __syncthreads();
    }
    // keys below the prefix, and the first `need` of those that begin with it, in the order of the line
    unsigned int below = 0, equal = 0;
    for (long long base = 0; base < l.size; base += KERF_THREADS) {
      const long long i = base + threadIdx.x;
      const K key = i < l.size ? kerf_line_key(l, line, i) >> shift : ~(K)0;
      const bool isBelow = i < l.size && key < prefix >> shift, isEqual = i < l.size && key == prefix >> shift;
      unsigned int total;
      const unsigned int before = kerf_before<W>((unsigned int)isBelow | (unsigned int)isEqual << 16, space.warps, total);
      const unsigned int equals = equal + (before >> 16);
      if (isBelow || (isEqual && equals < need)) {
        const unsigned int at = below + (before & 0xffffu) + (equals < need ? equals : need);
        picked[at] = (int)i, space.keys[at] = kerf_line_key(l, line, i);
      }
      below += total & 0xffffu, equal += total >> 16;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < KERF_LINE; i += KERF_THREADS)
      if (i >= l.first + l.kept) space.keys[i] = ~(K)0;
    K own[EACH];
    unsigned short order[EACH];
    kerf_take_line(own, order, space);
    kerf_sort_block(own, order, space, l.low, l.high);
    const unsigned short* const numbers = (const unsigned short*)space.keys;
    kerf_put_ordered(l, line, number, [&](int place) { return (long long)picked[numbers[place]]; });
  }
}
)cuda";

/// A block of 512 threads, so that a line is read quickly; as many keys of each as what is selected needs.
std::optional<LineForm> selectForm(std::int64_t selected, std::int64_t keyBytes) {
  for (int each = 1; each <= (keyBytes == 4 ? 8 : 4); each *= 2)
    if (selected <= LineForm{16, each}.most()) return LineForm{16, each};
  return {};
}

KernelMacros withForm(KernelMacros macros, LineForm form) {
  for (auto& macro : lineMacros(form)) macros.push_back(std::move(macro));
  return macros;
}

/// A source each: one module has not the shared memory for both.
std::string orderingText(std::string_view kernel) {
  return fmt::format("{}{}{}{}", lineSource(), keySource(), orderedSource, kernel);
}
const std::string& sortLinesText() {
  static const std::string text = orderingText(sortLinesSource);
  return text;
}
const std::string& selectLinesText() {
  static const std::string text = orderingText(selectLinesSource);
  return text;
}

}  // namespace

std::optional<LineForm> lineFormOf(std::int64_t size, std::int64_t keyBytes) {
  for (const LineForm form : forms)
    if (size <= form.most() && form.most() * keyBytes <= mostKeyBytes) return form;
  return {};
}

KernelMacros lineMacros(LineForm form) {
  return {{"W", std::to_string(form.warps)}, {"EACH", std::to_string(form.each)}};
}

std::string_view prefixSource() { return prefixText; }

std::string_view lineSource() {
  static const std::string text = std::string(prefixText) + std::string(blockSource);
  return text;
}

Result<bool> orderLines(const DeviceCall& call, const OrderedLines& lines, const KernelMacros& macros,
                        std::int64_t keyBytes) {
  const std::int64_t selected = lines.first + lines.kept;
  const auto whole = lineFormOf(lines.size, keyBytes), part = selectForm(selected, keyBytes);
  const bool sorts = whole && (selected * largeShare >= lines.size || lines.size <= LineForm{16, 1}.most());
  if (!sorts && !part) return false;
  if (!sorts && lines.count < fewLines && lines.size > longLine) return false;
  const LineForm form = sorts ? *whole : *part;
  KernelArguments arguments;
  arguments.add(lines);
  KERF_CHECK(call.on.library.launch(
      sorts ? sortLinesText() : selectLinesText(), sorts ? "kerf_sort_lines" : "kerf_select_lines",
      withForm(macros, form), std::min<std::int64_t>(lines.count, std::int64_t{1} << 30), form.warps * 32, arguments));
  return true;
}

std::vector<LibraryKernel> lineKernels() {
  std::vector<LibraryKernel> all;
  const auto add = [&](DType dtype, LineForm form, bool selects) {
    all.push_back({selects ? selectLinesText() : sortLinesText(), selects ? "kerf_select_lines" : "kerf_sort_lines",
                   withForm(orderMacros(dtype), form)});
  };
  for (const LineForm form : forms)
    if (form.most() * 4 <= mostKeyBytes) add(DType::Float32, form, false);
  for (const DType dtype : {DType::Float64, DType::Int64}) add(dtype, {16, 8}, false), add(dtype, {16, 4}, true);
  for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16, DType::Int32, DType::Bool})
    add(dtype, {16, 8}, true);
  return all;
}

}  // namespace kerf::inline backend
