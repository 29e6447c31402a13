#include "engine/backend/cuda/device_put.h"

namespace kerf::inline backend {

/// K: a place as a number, row by row over the dimensions that are written by index; T, A: elements and what they are combined
/// in; V elements at once; COMBINE(a, b) and START.
std::string_view putSource() {
  return R"cuda(
struct KerfIndices {
  const long long* at[4];
  KerfShape shapes[4], along;  // along: what a row's own position adds to its place
  long long sizes[4], strides[4], count, skipped;  // skipped: an index that is left out, from 0 on
};

// What is no place gets `places`, the number of them.
extern "C" __global__ void kerf_put_keys(K* keys, KerfIndices indices, long long rows, long long places, int wraps,
                                         unsigned long long number, unsigned long long* found) {
  const long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= rows) return;
  long long place = kerf_place(indices.along, n);
  for (int k = 0; k < (int)indices.count; ++k) {
    const long long given = indices.at[k][kerf_place(indices.shapes[k], n)];
    if (indices.skipped >= 0 && given == indices.skipped) { place = places; break; }
    const long long index = wraps && given < 0 ? given + indices.sizes[k] : given;
    if (index < 0 || index >= indices.sizes[k]) {
      if (atomicCAS(found, 0ull, number + k) == 0ull) found[1] = (unsigned long long)given;
      place = places;
      break;
    }
    place += index * indices.strides[k];
  }
  keys[n] = (K)place;
}

// Of sorted keys: where each place's begin and end.
extern "C" __global__ void kerf_put_ranges(const K* keys, unsigned int* ranges, long long rows, long long places) {
  const long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= rows || (long long)keys[n] >= places) return;
  if (n == 0 || keys[n - 1] != keys[n]) ranges[2 * (long long)keys[n]] = (unsigned int)n;
  if (n == rows - 1 || keys[n + 1] != keys[n]) ranges[2 * (long long)keys[n] + 1] = (unsigned int)n + 1;
}

// Where everything is a line, positions are products. Else one at a time: the code of several would take seconds to compile.
#if SIMPLE
#define KERF_AT(shape, position) ((position) * (shape).strides[0])
constexpr int KERF_ROWS = ROWS, KERF_AHEAD = AHEAD, KERF_DEEP = 8;  // places at once, values of each that are read ahead, rows of a sum
#else
#define KERF_AT(shape, position) kerf_place(shape, position)
constexpr int KERF_ROWS = 1, KERF_AHEAD = 1, KERF_DEEP = 1;
#endif
constexpr int KERF_LEVELS = 5, KERF_PIECE = 32;
struct KerfPut {
  T* out;
  const T *self, *values;  // self is null where there are zeros
  A* parts;                // of level 1, then of level 2, ...
  const K* keys;
  const int* order;
  const unsigned int* ranges;  // null: each row that is the first of its place looks for the last one
  KerfShape place, rest, selfPlace, selfRest, valueRows, valueRest;
  double factor;
  long long wholeFactor;  // the same for integers: what every value is multiplied by
  long long rows, places, width, partsAt[KERF_LEVELS + 1], includes, mean, assigns;
  int team, levels, chunks, unused;  // logarithm of the threads for a row; levels of parts; blocks beside each other for wide rows
};

// Rows `from` to `to` of a level: 0 are those given, in their sorted order, others are parts of 32 of the level below.
template <int DEEP>
__device__ __forceinline__ void kerf_put_add(A (&sum)[V], const KerfPut& put, int level, long long from, long long to, long long column) {
  const T* const values = put.values + KERF_AT(put.valueRest, column * V);
  const A* const parts = put.parts + put.partsAt[level] + column * V;
  for (; from < to; from += DEEP) {
    A some[DEEP][V];
    #pragma unroll
    for (int k = 0; k < DEEP; ++k) {
      if (from + k >= to) continue;
      if (level == 0) {
        const KerfPack<T, V> pack = kerf_load<T, V>(values + KERF_AT(put.valueRows, put.order[from + k]));
        #pragma unroll
        for (int v = 0; v < V; ++v) some[k][v] = (A)FROM(pack.at[v]) * (A)FACTOR(put);
      } else {
        #pragma unroll
        for (int v = 0; v < V; ++v) some[k][v] = parts[(from + k) * put.width * V + v];
      }
    }
    #pragma unroll
    for (int k = 0; k < DEEP; ++k)
      if (from + k < to) {
        #pragma unroll
        for (int v = 0; v < V; ++v) sum[v] = COMBINE(sum[v], some[k][v]);
      }
  }
}

// Parts of `level`: of each piece of 32 of the level below that is for one place as a whole.
extern "C" __global__ void __launch_bounds__(256) kerf_put_parts(KerfPut put, int level) {
  long long size = 1;
  for (int l = 0; l < level; ++l) size *= KERF_PIECE;
  const int teams = 256 >> put.team;
  const long long piece = (long long)(blockIdx.x / put.chunks) * teams + (threadIdx.x >> put.team), first = piece * size;
  const long long column = ((long long)(blockIdx.x % put.chunks) << put.team) + (threadIdx.x & ((1 << put.team) - 1));
  if (column >= put.width || first + size > put.rows) return;
  if ((long long)put.keys[first] >= put.places || put.keys[first + size - 1] != put.keys[first]) return;
  A sum[V];
  #pragma unroll
  for (int v = 0; v < V; ++v) sum[v] = START;
  kerf_put_add<KERF_DEEP>(sum, put, level - 1, piece * KERF_PIECE, (piece + 1) * KERF_PIECE, column);
  #pragma unroll
  for (int v = 0; v < V; ++v) put.parts[put.partsAt[level] + (piece * put.width + column) * V + v] = sum[v];
}

__device__ __forceinline__ long long kerf_put_end(const KerfPut& put, long long first) {
  const K key = put.keys[first];
  long long step = 1, last = first;  // of this place
  while (last + step < put.rows && put.keys[last + step] == key) last += step, step *= 2;
  for (; step > 0; step /= 2)
    if (last + step < put.rows && put.keys[last + step] == key) last += step;
  return last + 1;
}

// Rows `from` to `to` of one place: of each level what is no whole piece in front, then what is behind; of the last one all.
__device__ __forceinline__ void kerf_put_run(A (&sum)[V], const KerfPut& put, long long from, long long to, long long column) {
  for (int step = 0;; ++step) {
    const int level = step / 2;
    const long long whole = (from + KERF_PIECE - 1) / KERF_PIECE, behind = to / KERF_PIECE;
    const bool last = level == put.levels || whole >= behind, front = step % 2 == 0;
    kerf_put_add<(KERF_DEEP > 4 ? 4 : KERF_DEEP)>(sum, put, level, front ? from : behind * KERF_PIECE, last || !front ? to : whole * KERF_PIECE, column);
    if (last) return;
    if (!front) from = whole, to = behind;
  }
}

// Every place where there are ranges, else those that get something. A thread has some of them at once: what they need first is
// read before any of it is used.
extern "C" __global__ void __launch_bounds__(256) kerf_put(KerfPut put) {
  const int teams = 256 >> put.team;
  const long long first = (long long)(blockIdx.x / put.chunks) * (teams * ROWS) + (threadIdx.x >> put.team);
  const long long column = ((long long)(blockIdx.x % put.chunks) << put.team) + (threadIdx.x & ((1 << put.team) - 1));
  if (column >= put.width) return;
  const long long selfAt = KERF_AT(put.selfRest, column * V), valueAt = KERF_AT(put.valueRest, column * V);
  long long places[ROWS];
  unsigned int begins[ROWS], ends[ROWS];
  KerfPack<T, V> packs[ROWS], values[ROWS][AHEAD];
  #pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    const long long row = first + k * teams;
    places[k] = -1, begins[k] = ends[k] = 0;
    if (row >= (put.ranges ? put.places : put.rows)) continue;
    if (put.ranges) {
      places[k] = row, begins[k] = put.ranges[2 * row], ends[k] = put.ranges[2 * row + 1];
    } else if ((long long)put.keys[row] < put.places && (row == 0 || put.keys[row - 1] != put.keys[row])) {
      places[k] = (long long)put.keys[row], begins[k] = (unsigned int)row, ends[k] = (unsigned int)kerf_put_end(put, row);
    }
  }
  #pragma unroll
  for (int k = 0; k < ROWS; ++k)
    if (places[k] >= 0 && put.self) packs[k] = kerf_load<T, V>(put.self + KERF_AT(put.selfPlace, places[k]) + selfAt);
  #pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    const unsigned int from = put.assigns && ends[k] > begins[k] ? ends[k] - 1 : begins[k];
    #pragma unroll
    for (int a = 0; a < AHEAD; ++a)
      if (from + a < ends[k]) values[k][a] = kerf_load<T, V>(put.values + KERF_AT(put.valueRows, put.order[from + a]) + valueAt);
  }
  #pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    if (places[k] < 0) continue;
    const long long begin = begins[k], end = ends[k], count = end - begin + put.includes;
    KerfPack<T, V> done;
    A sum[V];
    #pragma unroll
    for (int v = 0; v < V; ++v) {
      sum[v] = put.self ? (A)FROM(packs[k].at[v]) : (A)0;
      if (end <= begin || put.assigns) continue;
      if (!put.includes) sum[v] = START;
      #pragma unroll
      for (int a = 0; a < AHEAD; ++a)
        if (begin + a < end) sum[v] = COMBINE(sum[v], (A)FROM(values[k][a].at[v]) * (A)FACTOR(put));
    }
    if (end > begin + AHEAD && !put.assigns) kerf_put_run(sum, put, begin + AHEAD, end, column);
    #pragma unroll
    for (int v = 0; v < V; ++v) done.at[v] = put.mean && end > begin && count > 1 ? (T)TO(OVER(sum[v], count)) : (T)TO(sum[v]);
    if (put.assigns && end > begin) done = values[k][0];
    if (put.assigns && end <= begin && put.self) done = packs[k];
    kerf_store<T, V>(put.out + KERF_AT(put.place, places[k]) + KERF_AT(put.rest, column * V), done);
  }
}
)cuda";
}

}  // namespace kerf::inline backend
