// Attention's forward as one kernel: scores of 64 keys at a time in registers, with a softmax that is corrected as it goes on.
#include "engine/backend/cuda/device_flash.h"

namespace kerf::inline backend {

/// Of both directions: a warp has 16 TALL rows of scores, queries or keys, and KEYS columns of them at a time. CAUSAL, HAS_MASK, DROPS:
/// what there is. Dropout draws the same words as the kernels between products (device_attention_source.cpp).
static constexpr std::string_view common = R"cuda(
#define THREADS 128
#define LOG2_E 1.4426950408889634f
struct KerfFlash {
  long long q[3], k[3], v[3], out[3], grad[3], dq[3], dk[3], dv[3], sums[3], mask[4];  // strides: batch, head, row
  int queries, keys, heads, groups, width, values, shift, emptyIsPlus;  // shift: query i sees keys up to i + shift
  float scale, keep, factor, padding;
};

__device__ __forceinline__ bool kerf_keeps(unsigned int word, float keep) {
  return fmaf((float)word, 2.3283064e-10f, 2.3283064e-10f / 2) > keep;
}
// Which of a row's scores that this lane has of a tile are kept, two bits for each 8 keys: keys `2 (lane % 4)` and the next. `first`:
// of the tile's first key. Two neighbours are of one counter but where the first of them is the last of its four.
template <int COUNT>
__device__ __forceinline__ unsigned int kerf_kept(unsigned long long key, unsigned long long first, float keep) {
  const unsigned long long at = first + threadIdx.x % 4 * 2;
  const int word = (int)(at % 4);
  unsigned int kept = 0;
  #pragma unroll 1
  for (int n = 0; n < COUNT / 8; ++n) {
    unsigned int w[4];
    kerf_words(w, key, at / 4 + n * 2);
    const unsigned int a = word == 0 ? w[0] : word == 1 ? w[1] : word == 2 ? w[2] : w[3];
    unsigned int b = word == 0 ? w[1] : word == 1 ? w[2] : w[3];
    if (word == 3) {
      kerf_words(w, key, at / 4 + n * 2 + 1);
      b = w[0];
    }
    kept |= ((kerf_keeps(a, keep) ? 1u : 0u) | (kerf_keeps(b, keep) ? 2u : 0u)) << 2 * n;
  }
  return kept;
}

#define ROWS (64 * TALL)
typedef float KerfScores[TALL][KEYS / 8][4];

// A mask that is added may hold the smallest number there is, of which no power of 2 may be made: such scores stay as they are, while
// others become exponents of 2 when their weight is computed. `base`: the largest of a row, times `factor` of others.
#define ADDS_MASK (HAS_MASK && !MASK_IS_BOOL)
__device__ __forceinline__ float kerf_weight(float score, float factor, float base) {
  return ADDS_MASK ? kerf_exp2((score - base) * LOG2_E) : kerf_exp2(fmaf(score, factor, -base));
}

// This warp's rows times rows of a tile; left(x, t, d) tells the squares of columns d to d + 15 of its rows 16 t to 16 t + 15.
template <int SIDE, class Left>
__device__ __forceinline__ void kerf_products_of(KerfScores& s, Left left, KerfShared right) {
  #pragma unroll
  for (int t = 0; t < TALL; ++t)
    #pragma unroll
    for (int n = 0; n < KEYS / 8; ++n) s[t][n][0] = s[t][n][1] = s[t][n][2] = s[t][n][3] = 0;
  #pragma unroll
  for (int d = 0; d < SIDE; d += 16) {
    unsigned int x[TALL][4];
    #pragma unroll
    for (int t = 0; t < TALL; ++t) left(x[t], t, d);
    #pragma unroll
    for (int n = 0; n < KEYS; n += 16) {
      unsigned int y[4];
      kerf_right_turned<SIDE>(y, right, n, d);
      #pragma unroll
      for (int t = 0; t < TALL; ++t) kerf_multiply(s[t][n / 8], x[t], y[0], y[1]), kerf_multiply(s[t][n / 8 + 1], x[t], y[2], y[3]);
    }
  }
}
// The same for rows from `row` on of a tile.
template <int SIDE>
__device__ __forceinline__ void kerf_products(KerfScores& s, KerfShared left, int row, KerfShared right) {
  kerf_products_of<SIDE>(s, [&](unsigned int (&x)[4], int t, int d) { kerf_left<SIDE>(x, left, row + t * 16, d); }, right);
}

// o += p times a tile.
template <int SIDE>
__device__ __forceinline__ void kerf_add_products(float (&o)[TALL][SIDE / 8][4], const KerfScores& p, KerfShared right) {
  #pragma unroll
  for (int n = 0; n < KEYS; n += 16) {
    unsigned int x[TALL][4];
    #pragma unroll
    for (int t = 0; t < TALL; ++t)
      #pragma unroll
      for (int i = 0; i < 4; ++i) x[t][i] = kerf_pair(p[t][n / 8 + i / 2][i % 2 * 2], p[t][n / 8 + i / 2][i % 2 * 2 + 1]);
    #pragma unroll
    for (int d = 0; d < SIDE; d += 16) {
      unsigned int y[4];
      kerf_right<SIDE>(y, right, n, d);
      #pragma unroll
      for (int t = 0; t < TALL; ++t) kerf_multiply(o[t][d / 8], x[t], y[0], y[1]), kerf_multiply(o[t][d / 8 + 1], x[t], y[2], y[3]);
    }
  }
}

// Scores that are not seen become minus infinity; a mask of bools makes scores exponents of 2, another is added. TURNED: rows are keys.
template <bool TURNED>
__device__ __forceinline__ void kerf_hide(KerfScores& s, int firstRow, int firstColumn, const M* mask, const KerfFlash& a) {
  const int lane = threadIdx.x % 32;
  #pragma unroll
  for (int t = 0; t < TALL; ++t)
    #pragma unroll
    for (int n = 0; n < KEYS / 8; ++n)
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = firstRow + t * 16 + lane / 4 + i / 2 * 8, column = firstColumn + n * 8 + lane % 4 * 2 + i % 2;
        const int query = TURNED ? column : row, key = TURNED ? row : column;
        float& score = s[t][n][i];
        if (HAS_MASK) {
          score *= a.scale * (ADDS_MASK ? 1.0f : LOG2_E);
          if (key < a.keys && query < a.queries) {
            const M m = mask[query * a.mask[2] + key * a.mask[3]];
            if (MASK_IS_BOOL) {
              if (!m) score = -KERF_INFINITY;
            } else {
              score += FROM_MASK(m);
            }
          }
        }
        if (key >= a.keys || (CAUSAL && key > query + a.shift)) score = -KERF_INFINITY;
      }
}

// The queries of a block: whose they are, and before which key all that they see lies.
struct KerfTile {
  int batch, head, firstQuery, end;
  long long firstRow;  // of this head among all heads'
};
__device__ __forceinline__ KerfTile kerf_tile(const KerfFlash& a) {
  const int tiles = (a.queries + ROWS - 1) / ROWS, all = (int)gridDim.x / tiles;
  // Of a triangle the longest rows begin; else tiles that share their keys run beside each other.
  const int tile = CAUSAL ? tiles - 1 - (int)blockIdx.x / all : (int)blockIdx.x % tiles;
  const int both = CAUSAL ? (int)blockIdx.x % all : (int)blockIdx.x / tiles;
  KerfTile own = {both / a.heads, both % a.heads, tile * ROWS, a.keys, (long long)both * a.queries};
  if (CAUSAL && own.firstQuery + ROWS + a.shift < own.end) own.end = own.firstQuery + ROWS + a.shift;
  return own;
}

// The rows of a result that this warp has, times `factor`.
template <int SIDE>
__device__ __forceinline__ void kerf_put_rows(unsigned short* out, long long step, const float (&o)[TALL][SIDE / 8][4], int firstRow, int rows,
                                              int columns, float factor) {
  const int lane = threadIdx.x % 32;
  #pragma unroll
  for (int t = 0; t < TALL; ++t)
    #pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = firstRow + t * 16 + lane / 4 + half * 8;
      #pragma unroll
      for (int d = 0; d < SIDE / 8; ++d)
        if (row < rows && d * 8 + lane % 4 * 2 < columns)
          *reinterpret_cast<unsigned int*>(out + row * step + d * 8 + lane % 4 * 2) =
              kerf_pair(o[t][d][2 * half] * factor, o[t][d][2 * half + 1] * factor);
    }
}
)cuda";

/// 64 TALL queries of one head for a block. WIDTH, VALUES: of heads, rounded up to 16. KEEPS_QUERIES: whether they stay in registers.
static constexpr std::string_view forward = R"cuda(
extern "C" __global__ void __launch_bounds__(128) kerf_flash(unsigned short* out, float* sums, const unsigned short* q,
                                                            const unsigned short* k, const unsigned short* v, const M* mask,
                                                            const long long* seed, const long long* offset, KerfFlash a) {
  KERF_DYNAMIC_SHARED(space);
  const int lane = threadIdx.x % 32, ownRow = threadIdx.x / 32 * (16 * TALL);
  const KerfTile own = kerf_tile(a);
  const int batch = own.batch, head = own.head, firstQuery = own.firstQuery, end = own.end;
  const long long head0 = own.firstRow;
  q += batch * a.q[0] + head * a.q[1];
  k += batch * a.k[0] + head / a.groups * a.k[1];
  v += batch * a.v[0] + head / a.groups * a.v[1];
  mask += batch * a.mask[0] + head * a.mask[1];
  const KerfShared queriesAt = kerf_shared(space), keysAt = queriesAt + ROWS * (WIDTH + 8) * 2,
                   valuesAt = keysAt + KEYS * (WIDTH + 8) * 2;
  int first = end <= 0 ? -KEYS : (end - 1) / KEYS * KEYS;
  kerf_fetch<ROWS, WIDTH, THREADS>(queriesAt, q, a.q[2], firstQuery, a.queries, a.width);
  if (first >= 0) kerf_fetch<KEYS, WIDTH, THREADS>(keysAt, k, a.k[2], first, a.keys, a.width);

  float o[TALL][VALUES / 8][4] = {}, most[TALL][2], sum[TALL][2] = {};
  #pragma unroll
  for (int t = 0; t < TALL; ++t) most[t][0] = most[t][1] = -KERF_INFINITY;
  const float factor = HAS_MASK ? 1.0f : a.scale * LOG2_E;  // scores' exponents are powers of 2
#if KEEPS_QUERIES
  unsigned int kept[WIDTH / 16][TALL][4];
  kerf_copied();
  __syncthreads();
  #pragma unroll
  for (int d = 0; d < WIDTH; d += 16)
    #pragma unroll
    for (int t = 0; t < TALL; ++t) kerf_left<WIDTH>(kept[d / 16][t], queriesAt, ownRow + t * 16, d);
#endif
  for (; first >= 0; first -= KEYS) {
    kerf_copied();
    __syncthreads();
    kerf_fetch<KEYS, VALUES, THREADS>(valuesAt, v, a.v[2], first, a.keys, a.values);
    KerfScores s;
#if KEEPS_QUERIES
    kerf_products_of<WIDTH>(s, [&](unsigned int (&x)[4], int t, int d) {
      #pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = kept[d / 16][t][i];
    }, keysAt);
#else
    kerf_products<WIDTH>(s, queriesAt, ownRow, keysAt);
#endif
    kerf_copied();
    __syncthreads();
    if (first > 0) kerf_fetch<KEYS, WIDTH, THREADS>(keysAt, k, a.k[2], first - KEYS, a.keys, a.width);

    if (HAS_MASK || first + KEYS > a.keys || (CAUSAL && first + KEYS - 1 > firstQuery + a.shift))
      kerf_hide<false>(s, firstQuery + ownRow, first, mask, a);
    #pragma unroll
    for (int t = 0; t < TALL; ++t)
      #pragma unroll
      for (int half = 0; half < 2; ++half) {
        float largest = most[t][half];
        #pragma unroll
        for (int n = 0; n < KEYS / 8; ++n) largest = fmaxf(largest, fmaxf(s[t][n][2 * half], s[t][n][2 * half + 1]));
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
        const float from = fabsf(largest) == KERF_INFINITY ? 0.0f : largest * factor;
        const float shrink = kerf_exp2((most[t][half] * factor - from) * (ADDS_MASK ? LOG2_E : 1.0f));  // 1 where the maximum stays
        most[t][half] = largest;
        float added = 0;
        #pragma unroll
        for (int n = 0; n < KEYS / 8; ++n)
          #pragma unroll
          for (int i = 2 * half; i < 2 * half + 2; ++i) added += s[t][n][i] = kerf_weight(s[t][n][i], factor, from);
        sum[t][half] = fmaf(sum[t][half], shrink, added);
        #pragma unroll
        for (int d = 0; d < VALUES / 8; ++d) o[t][d][2 * half] *= shrink, o[t][d][2 * half + 1] *= shrink;
      }
    if (DROPS) {
      #pragma unroll
      for (int t = 0; t < TALL; ++t)
        #pragma unroll
        for (int half = 0; half < 2; ++half) {
          const long long query = firstQuery + ownRow + t * 16 + lane / 4 + half * 8;
          const unsigned int kept =
              kerf_kept<KEYS>((unsigned long long)*seed, (unsigned long long)*offset + (head0 + query) * a.keys + first, a.keep);
          #pragma unroll
          for (int n = 0; n < KEYS / 8; ++n) {
            if (!(kept >> 2 * n & 1u)) s[t][n][2 * half] = 0;
            if (!(kept >> 2 * n & 2u)) s[t][n][2 * half + 1] = 0;
          }
        }
    }
    kerf_add_products<VALUES>(o, s, valuesAt);
  }

  #pragma unroll
  for (int t = 0; t < TALL; ++t)
    #pragma unroll
    for (int half = 0; half < 2; ++half) {
      float total = sum[t][half];
      total += __shfl_xor_sync(0xffffffffu, total, 1);
      total += __shfl_xor_sync(0xffffffffu, total, 2);
      const int query = firstQuery + ownRow + t * 16 + lane / 4 + half * 8;
      const float scale = (total != 0 ? 1 / total : 1.0f) * (DROPS ? a.factor : 1.0f);
      #pragma unroll
      for (int d = 0; d < VALUES / 8; ++d) o[t][d][2 * half] *= scale, o[t][d][2 * half + 1] *= scale;
      if (sums && lane % 4 == 0 && query < a.queries) {
        const float from = fabsf(most[t][half]) == KERF_INFINITY ? 0.0f : most[t][half] * (ADDS_MASK ? 1.0f : HAS_MASK ? 1 / LOG2_E : a.scale);
        const float value = from + logf(total);
        sums[batch * a.sums[0] + head * a.sums[1] + query * a.sums[2]] =
            a.emptyIsPlus && value == -KERF_INFINITY ? KERF_INFINITY : value;
      }
    }
  kerf_put_rows<VALUES>(out + batch * a.out[0] + head * a.out[1], a.out[2], o, firstQuery + ownRow, a.queries, a.values, 1.0f);
}
)cuda";

std::string_view flashCommonSource() { return common; }

std::string_view flashForwardSource() {
  static const std::string text = std::string(tensorCoreSource()) + std::string(common) + std::string(forward);
  return text;
}

}  // namespace kerf::inline backend
