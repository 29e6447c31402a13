// Attention's backward in two kernels, one for queries and one for keys, each of which computes scores again: no two blocks add to
// the same place, so that no two runs differ.
#include "engine/backend/cuda/device_flash.h"

namespace kerf::inline backend {

/// A block has 64 TALL queries or keys and goes over KEYS of the others at a time. What an exponential of a row of
/// scores begins from (an exponent of 2) and the sum of its weights times their gradients lie beside each other in `stats`; of
/// masks that are added, whose smallest numbers leave no digit for it, the logarithm of the sum of weights lies behind all of them.
static constexpr std::string_view source = R"cuda(
// What is kept of queries and keys in registers, four bits for 8 queries: those of element i of a square. Four keys that lie beside each
// other are of one counter where rows begin with one: then each of four lanes computes one element's for all of them.
__device__ __forceinline__ unsigned int kerf_kept_turned(unsigned long long seed, unsigned long long offset, long long head0, int firstKey,
                                                         int firstQuery, const KerfFlash& a) {
  const int lane = threadIdx.x % 32, own = lane / 4 % 4;
  const bool even = offset % 4 == 0 && a.keys % 4 == 0;
  unsigned int kept = 0;
  #pragma unroll 1
  for (int n = 0; n < KEYS / 8; ++n) {
    unsigned int w[4], words = 0;
    #pragma unroll 1
    for (int i = even ? own : 0; i < 4; i += even ? 4 : 1) {
      const long long query = firstQuery + n * 8 + lane % 4 * 2 + i % 2;
      const unsigned long long at = offset + (unsigned long long)((head0 + query) * a.keys + firstKey + lane / 4 + i / 2 * 8);
      kerf_words(w, seed, at / 4);
      const int word = (int)(at % 4);
      if (even)
        for (int j = 0; j < 4; ++j) words |= (kerf_keeps(w[j], a.keep) ? 1u : 0u) << j;
      else
        words |= (kerf_keeps(word == 0 ? w[0] : word == 1 ? w[1] : word == 2 ? w[2] : w[3], a.keep) ? 1u : 0u) << i;
    }
    if (even) {
      unsigned int bits = 0;
      #pragma unroll
      for (int i = 0; i < 4; ++i) bits |= (__shfl_sync(0xffffffffu, words, (lane & ~12) | i << 2) >> own & 1u) << i;
      words = bits;
    }
    kept |= words << 4 * n;
  }
  return kept;
}

// Of the second time: `less` is the logarithm of the sum of weights where `base` does not hold it.
__device__ __forceinline__ float kerf_weight_of(float score, float factor, float base, float less) {
  return ADDS_MASK ? kerf_exp2(fmaf(score - base, LOG2_E, -less)) : kerf_weight(score, factor, base);
}

// Gradients of 64 TALL queries. The first time over the keys tells each row's sums, the second one adds up.
extern "C" __global__ void __launch_bounds__(128) kerf_flash_queries(unsigned short* dq, float* stats, const unsigned short* q,
                                                                     const unsigned short* k, const unsigned short* v,
                                                                     const unsigned short* grad, const M* mask, const long long* seed,
                                                                     const long long* offset, KerfFlash a) {
  KERF_DYNAMIC_SHARED(space);
  const int lane = threadIdx.x % 32, ownRow = threadIdx.x / 32 * (16 * TALL);
  const int all = (int)gridDim.x / ((a.queries + ROWS - 1) / ROWS);  // heads of all batches
  const KerfTile own = kerf_tile(a);
  const int batch = own.batch, head = own.head, firstQuery = own.firstQuery, end = own.end;
  const long long head0 = own.firstRow;
  q += batch * a.q[0] + head * a.q[1];
  grad += batch * a.grad[0] + head * a.grad[1];
  k += batch * a.k[0] + head / a.groups * a.k[1];
  v += batch * a.v[0] + head / a.groups * a.v[1];
  mask += batch * a.mask[0] + head * a.mask[1];
  const KerfShared queriesAt = kerf_shared(space), gradsAt = queriesAt + ROWS * (WIDTH + 8) * 2, stages = gradsAt + ROWS * (VALUES + 8) * 2;
  const int count = end <= 0 ? 0 : (end + KEYS - 1) / KEYS;
  const auto fetch = [&](int step) {
    const KerfShared at = stages + step % 2 * (KEYS * (WIDTH + VALUES + 16) * 2);
    const int first = step % count * KEYS;
    kerf_fetch<KEYS, WIDTH, THREADS>(at, k, a.k[2], first, a.keys, a.width);
    kerf_fetch<KEYS, VALUES, THREADS>(at + KEYS * (WIDTH + 8) * 2, v, a.v[2], first, a.keys, a.values);
  };
  kerf_fetch<ROWS, WIDTH, THREADS>(queriesAt, q, a.q[2], firstQuery, a.queries, a.width);
  kerf_fetch<ROWS, VALUES, THREADS>(gradsAt, grad, a.grad[2], firstQuery, a.queries, a.values);
  if (count > 0) fetch(0);

  float o[TALL][WIDTH / 8][4] = {}, from[TALL][2], sum[TALL][2] = {}, part[TALL][2] = {};  // part: of weights times gradients
  float less[TALL][2] = {};
  #pragma unroll
  for (int t = 0; t < TALL; ++t) from[t][0] = from[t][1] = count == 0 ? KERF_INFINITY : -KERF_INFINITY;
  const float factor = HAS_MASK ? 1.0f : a.scale * LOG2_E;
  for (int step = 0; step < 2 * count; ++step) {
    kerf_copied();
    __syncthreads();
    if (step + 1 < 2 * count) fetch(step + 1);
    const KerfShared keysAt = stages + step % 2 * (KEYS * (WIDTH + VALUES + 16) * 2);
    const int first = step % count * KEYS;
    KerfScores s, g;
    kerf_products<WIDTH>(s, queriesAt, ownRow, keysAt);
    kerf_products<VALUES>(g, gradsAt, ownRow, keysAt + KEYS * (WIDTH + 8) * 2);
    if (HAS_MASK || first + KEYS > a.keys || (CAUSAL && first + KEYS - 1 > firstQuery + a.shift))
      kerf_hide<false>(s, firstQuery + ownRow, first, mask, a);
    #pragma unroll
    for (int t = 0; t < TALL; ++t)
      #pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (DROPS) {
          const long long row = head0 + firstQuery + ownRow + t * 16 + lane / 4 + half * 8;
          const unsigned int kept = kerf_kept<KEYS>((unsigned long long)*seed, (unsigned long long)*offset + row * a.keys + first, a.keep);
          #pragma unroll
          for (int n = 0; n < KEYS / 8; ++n)
            #pragma unroll
            for (int i = 0; i < 2; ++i) g[t][n][2 * half + i] = kept >> 2 * n + i & 1u ? g[t][n][2 * half + i] * a.factor : 0.0f;
        }
        if (step < count) {
          float largest = from[t][half];
          #pragma unroll
          for (int n = 0; n < KEYS / 8; ++n) largest = fmaxf(largest, fmaxf(s[t][n][2 * half], s[t][n][2 * half + 1]));
          largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
          largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
          const float base = fabsf(largest) == KERF_INFINITY ? 0.0f : largest * factor;
          const float shrink = kerf_exp2((from[t][half] * factor - base) * (ADDS_MASK ? LOG2_E : 1.0f));
          float added = 0, weighted = 0;
          #pragma unroll
          for (int n = 0; n < KEYS / 8; ++n)
            #pragma unroll
            for (int i = 2 * half; i < 2 * half + 2; ++i) {
              const float p = kerf_weight(s[t][n][i], factor, base);
              added += p, weighted = fmaf(p, g[t][n][i], weighted);
            }
          sum[t][half] = fmaf(sum[t][half], shrink, added), part[t][half] = fmaf(part[t][half], shrink, weighted);
          from[t][half] = largest;
          if (step == count - 1) {
            float total = sum[t][half], whole = part[t][half];
            total += __shfl_xor_sync(0xffffffffu, total, 1), whole += __shfl_xor_sync(0xffffffffu, whole, 1);
            total += __shfl_xor_sync(0xffffffffu, total, 2), whole += __shfl_xor_sync(0xffffffffu, whole, 2);
            from[t][half] = total == 0 ? KERF_INFINITY : base + (ADDS_MASK ? 0.0f : log2f(total));
            if (ADDS_MASK && total != 0) less[t][half] = log2f(total);
            part[t][half] = total == 0 ? 0.0f : whole / total;
          }
        } else {
          #pragma unroll
          for (int n = 0; n < KEYS / 8; ++n)
            #pragma unroll
            for (int i = 2 * half; i < 2 * half + 2; ++i)
              s[t][n][i] = kerf_weight_of(s[t][n][i], factor, from[t][half], less[t][half]) * (g[t][n][i] - part[t][half]);
        }
      }
    if (step >= count) kerf_add_products<WIDTH>(o, s, keysAt);
  }
  if (dq) kerf_put_rows<WIDTH>(dq + batch * a.dq[0] + head * a.dq[1], a.dq[2], o, firstQuery + ownRow, a.queries, a.width, a.scale);
  #pragma unroll
  for (int t = 0; t < TALL; ++t)
    #pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int query = firstQuery + ownRow + t * 16 + lane / 4 + half * 8;
      if (lane % 4 == 0 && query < a.queries)
        *reinterpret_cast<float2*>(stats + 2 * (head0 + query)) = make_float2(from[t][half], part[t][half]);
      if (ADDS_MASK && lane % 4 == 0 && query < a.queries) stats[2ll * all * a.queries + head0 + query] = less[t][half];
    }
}

// Gradients of 64 TALL keys and values of one key head, over the queries of all heads that share it. Scores are turned: keys are rows.
extern "C" __global__ void __launch_bounds__(128) kerf_flash_keys(unsigned short* dk, unsigned short* dv, const float* stats,
                                                                  const unsigned short* q, const unsigned short* k, const unsigned short* v,
                                                                  const unsigned short* grad, const M* mask, const long long* seed,
                                                                  const long long* offset, KerfFlash a) {
  KERF_DYNAMIC_SHARED(space);
  const int lane = threadIdx.x % 32, ownRow = threadIdx.x / 32 * (16 * TALL);
  const int tiles = (a.keys + ROWS - 1) / ROWS, all = (int)gridDim.x / tiles, keyHeads = a.heads / a.groups;
  const int tile = CAUSAL ? (int)blockIdx.x / all : (int)blockIdx.x % tiles;
  const int both = CAUSAL ? (int)blockIdx.x % all : (int)blockIdx.x / tiles;
  const int batch = both / keyHeads, keyHead = both % keyHeads, firstKey = tile * ROWS;
  k += batch * a.k[0] + keyHead * a.k[1];
  v += batch * a.v[0] + keyHead * a.v[1];
  const KerfShared keysAt = kerf_shared(space), valuesAt = keysAt + ROWS * (WIDTH + 8) * 2, stages = valuesAt + ROWS * (VALUES + 8) * 2;
  // The first queries of a triangle see none of these keys.
  const int begin = CAUSAL && firstKey > a.shift ? (firstKey - a.shift) / KEYS : 0;
  const int left = (a.queries + KEYS - 1) / KEYS - begin, count = left < 0 ? 0 : left, steps = count * a.groups;
  const auto fetch = [&](int step) {
    const KerfShared at = stages + step % 2 * (KEYS * (WIDTH + VALUES + 16) * 2);
    const int first = (begin + step % count) * KEYS, head = keyHead * a.groups + step / count;
    kerf_fetch<KEYS, WIDTH, THREADS>(at, q + batch * a.q[0] + head * a.q[1], a.q[2], first, a.queries, a.width);
    kerf_fetch<KEYS, VALUES, THREADS>(at + KEYS * (WIDTH + 8) * 2, grad + batch * a.grad[0] + head * a.grad[1], a.grad[2], first, a.queries,
                                      a.values);
  };
  kerf_fetch<ROWS, WIDTH, THREADS>(keysAt, k, a.k[2], firstKey, a.keys, a.width);
  kerf_fetch<ROWS, VALUES, THREADS>(valuesAt, v, a.v[2], firstKey, a.keys, a.values);
  if (steps > 0) fetch(0);

  float ofKeys[TALL][WIDTH / 8][4] = {}, ofValues[TALL][VALUES / 8][4] = {};
  const float factor = HAS_MASK ? 1.0f : a.scale * LOG2_E;
  for (int step = 0; step < steps; ++step) {
    const int first = (begin + step % count) * KEYS, head = keyHead * a.groups + step / count;
    const long long head0 = ((long long)batch * a.heads + head) * a.queries;
    float2 of[KEYS / 8][2];
    float less[KEYS / 8][2] = {};
    #pragma unroll
    for (int n = 0; n < KEYS / 8; ++n)
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int query = first + n * 8 + lane % 4 * 2 + i;
        of[n][i] = query < a.queries ? *reinterpret_cast<const float2*>(stats + 2 * (head0 + query)) : make_float2(KERF_INFINITY, 0.0f);
        if (ADDS_MASK && query < a.queries) less[n][i] = stats[2ll * all * a.groups * a.queries + head0 + query];
      }
    kerf_copied();
    __syncthreads();
    if (step + 1 < steps) fetch(step + 1);
    const KerfShared queriesAt = stages + step % 2 * (KEYS * (WIDTH + VALUES + 16) * 2), gradsAt = queriesAt + KEYS * (WIDTH + 8) * 2;
    KerfScores s, g;
    kerf_products<WIDTH>(s, keysAt, ownRow, queriesAt);
    if (HAS_MASK || (CAUSAL && firstKey + ROWS - 1 > first + a.shift))
      kerf_hide<true>(s, firstKey + ownRow, first, mask + batch * a.mask[0] + head * a.mask[1], a);
    #pragma unroll
    for (int t = 0; t < TALL; ++t)
      #pragma unroll
      for (int n = 0; n < KEYS / 8; ++n)
        #pragma unroll
        for (int i = 0; i < 4; ++i) s[t][n][i] = kerf_weight_of(s[t][n][i], factor, of[n][i % 2].x, less[n][i % 2]);
    kerf_products<VALUES>(g, valuesAt, ownRow, gradsAt);
    if (DROPS) {
      #pragma unroll
      for (int t = 0; t < TALL; ++t) {
        const unsigned int kept =
            kerf_kept_turned((unsigned long long)*seed, (unsigned long long)*offset, head0, firstKey + ownRow + t * 16, first, a);
        #pragma unroll
        for (int n = 0; n < KEYS / 8; ++n)
          #pragma unroll
          for (int i = 0; i < 4; ++i) {
            const bool keeps = kept >> 4 * n + i & 1u;
            const float p = s[t][n][i];
            s[t][n][i] = keeps ? p : 0.0f;
            g[t][n][i] = p * ((keeps ? g[t][n][i] * a.factor : 0.0f) - of[n][i % 2].y);
          }
      }
    } else {
      #pragma unroll
      for (int t = 0; t < TALL; ++t)
        #pragma unroll
        for (int n = 0; n < KEYS / 8; ++n)
          #pragma unroll
          for (int i = 0; i < 4; ++i) g[t][n][i] = s[t][n][i] * (g[t][n][i] - of[n][i % 2].y);
    }
    kerf_add_products<VALUES>(ofValues, s, gradsAt);
    kerf_add_products<WIDTH>(ofKeys, g, queriesAt);
  }
  if (dk) kerf_put_rows<WIDTH>(dk + batch * a.dk[0] + keyHead * a.dk[1], a.dk[2], ofKeys, firstKey + ownRow, a.keys, a.width, a.scale);
  if (dv)
    kerf_put_rows<VALUES>(dv + batch * a.dv[0] + keyHead * a.dv[1], a.dv[2], ofValues, firstKey + ownRow, a.keys, a.values,
                          DROPS ? a.factor : 1.0f);
}
)cuda";

std::string_view flashBackwardSource() {
  static const std::string text =
      std::string(tensorCoreSource()) + std::string(flashCommonSource()) + std::string(source);
  return text;
}

}  // namespace kerf::inline backend
