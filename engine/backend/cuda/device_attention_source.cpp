// The kernels of attention between its products of matrices.
#include "engine/backend/cuda/device_ops.h"

namespace kerf::inline backend {

/// A row of scores for a team of threads. A computes, T is the type of query, key and value, M of the mask.
static constexpr std::string_view source = R"cuda(
struct KerfRows {
  long long rows, keys, queries, heads, mask[4], sums[3], shift;  // shift: query i sees keys up to i + shift
  long long allKeys, allQueries, allHeads, firstBatch, firstHead, firstQuery;  // the block's place in the whole
  double keep, factor;
  int causal, hasMask, drops, padding;
};

__device__ __forceinline__ unsigned int kerf_word(unsigned long long key, unsigned long long at) {
  unsigned int w[4];
  kerf_words(w, key, at / 4);
  return at % 4 == 0 ? w[0] : at % 4 == 1 ? w[1] : at % 4 == 2 ? w[2] : w[3];
}

// What dropout makes of score `index`: 0, or what the kept ones are multiplied by.
__device__ __forceinline__ A kerf_kept(const KerfRows& r, const long long* seed, const long long* offset, long long index) {
  if (!r.drops) return (A)1;
  const unsigned int word = kerf_word((unsigned long long)*seed, (unsigned long long)*offset + index);
  return fmaf((float)word, 2.3283064e-10f, 2.3283064e-10f / 2) > (float)r.keep ? (A)r.factor : (A)0;
}

__device__ __forceinline__ A kerf_masked(const KerfRows& r, const A* row, const M* mask, long long query, long long i) {
  if (r.causal && i > query + r.shift) return (A)-KERF_INFINITY;
  if (!r.hasMask) return row[i];
  const M m = mask[i * r.mask[3]];
  return MASK_IS_BOOL ? (m ? row[i] : (A)-KERF_INFINITY) : row[i] + (A)FROM_MASK(m);
}

// A row of a block, and its first score's place among all scores.
struct KerfRow { long long batch, head, query, first; };
__device__ __forceinline__ KerfRow kerf_row(const KerfRows& r, long long row) {
  KerfRow at = {r.firstBatch + row / r.queries / r.heads, r.firstHead + row / r.queries % r.heads, r.firstQuery + row % r.queries, 0};
  at.first = ((at.batch * r.allHeads + at.head) * r.allQueries + at.query) * r.allKeys;
  return at;
}

extern "C" __global__ void __launch_bounds__(256) kerf_softmax(A* scores, T* dropped, A* sums, const M* mask, const long long* seed,
                                                              const long long* offset, KerfRows r, int keepsWeights) {
  const int lane = threadIdx.x % TEAM, teams = 256 / TEAM;
  for (long long base = (long long)blockIdx.x * teams; base < r.rows; base += (long long)gridDim.x * teams) {
    const bool active = base + threadIdx.x / TEAM < r.rows;
    const long long row = active ? base + threadIdx.x / TEAM : r.rows - 1;
    const KerfRow is = kerf_row(r, row);
    const long long query = is.query;
    A* const at = scores + row * r.keys;
    const M* const own = mask + is.batch * r.mask[0] + is.head * r.mask[1] + query * r.mask[2];
    A largest = (A)-KERF_INFINITY;
    for (long long i = lane; i < r.keys; i += TEAM) largest = kerf_max(largest, kerf_masked(r, at, own, query, i));
    largest = kerf_team<TEAM>(largest, [](A a, A b) { return kerf_max(a, b); });
    const A from = isinf(largest) ? (A)0 : largest;
    A sum = 0;
    for (long long i = lane; i < r.keys; i += TEAM) sum += exp(kerf_masked(r, at, own, query, i) - from);
    sum = kerf_team<TEAM>(sum, [](A a, A b) { return a + b; });
    const A scale = sum != 0 ? 1 / sum : (A)1;
    if (active)
      for (long long i = lane; i < r.keys; i += TEAM) {
        const A weight = exp(kerf_masked(r, at, own, query, i) - from) * scale;
        if (keepsWeights) at[i] = weight;
        dropped[row * r.keys + i] = TO(weight * kerf_kept(r, seed, offset, is.first + i));
      }
    if (sums && lane == 0 && active) {
      const A value = from + log(sum);
      sums[is.batch * r.sums[0] + is.head * r.sums[1] + query * r.sums[2]] =
          EMPTY_IS_PLUS && value == (A)-KERF_INFINITY ? (A)KERF_INFINITY : value;
    }
  }
}

// The gradient of the scores in the place of those of the weights: p (g - sum of g p).
extern "C" __global__ void __launch_bounds__(256) kerf_softmax_gradient(const A* weights, const A* grads, T* out, const long long* seed,
                                                                       const long long* offset, KerfRows r) {
  const int lane = threadIdx.x % TEAM, teams = 256 / TEAM;
  for (long long base = (long long)blockIdx.x * teams; base < r.rows; base += (long long)gridDim.x * teams) {
    const bool active = base + threadIdx.x / TEAM < r.rows;
    const long long row = active ? base + threadIdx.x / TEAM : r.rows - 1;
    const long long first = kerf_row(r, row).first;
    const A* const p = weights + row * r.keys;
    const A* const g = grads + row * r.keys;
    A sum = 0;
    for (long long i = lane; i < r.keys; i += TEAM) sum += g[i] * kerf_kept(r, seed, offset, first + i) * p[i];
    sum = kerf_team<TEAM>(sum, [](A a, A b) { return a + b; });
    if (active)
      for (long long i = lane; i < r.keys; i += TEAM)
        out[row * r.keys + i] = TO(p[i] * (g[i] * kerf_kept(r, seed, offset, first + i) - sum));
  }
}

// Scores' gradients of a block summed over what the bias was repeated along: sizes of `whole` are 1 where they are the bias's own.
// `sums`: where several blocks add up; null where this one has all of them.
extern "C" __global__ void kerf_bias_gradient(M* out, A* sums, const T* grads, KerfShape bias, KerfShape whole, KerfShape rest,
                                              long long count, long long each) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long b = (long long)blockIdx.x * blockDim.x + threadIdx.x; b < count; b += step) {
    const long long from = kerf_place(whole, b), to = kerf_place(bias, b);
    A sum = 0;
    for (long long i = 0; i < each; ++i) sum += FROM(grads[from + kerf_place(rest, i)]);
    if (sums)
      sums[to] += sum;
    else
      out[to] = TO_MASK(sum);
  }
}

// `from` is dense.
extern "C" __global__ void kerf_rounded(T* out, const A* from, KerfShape shape, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) out[kerf_place(shape, i)] = TO(from[i]);
}
)cuda";

std::string_view attentionSource() { return source; }

}  // namespace kerf::inline backend
