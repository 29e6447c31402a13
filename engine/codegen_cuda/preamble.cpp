// The functions that every generated CUDA source begins with. No header of CUDA is needed.
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline codegen_cuda {

std::string_view preamble() {
  return R"cuda(template <class T, int V>
struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) KerfPack { T at[V]; };

template <class T, int V>
__device__ __forceinline__ KerfPack<T, V> kerf_load(const T* place) { return *reinterpret_cast<const KerfPack<T, V>*>(place); }

// What nobody reads again: the first cache keeps its lines for others.
template <class T, int V>
__device__ __forceinline__ KerfPack<T, V> kerf_load_once(const T* place) {
#if __CUDA_ARCH__ >= 700
  if constexpr (sizeof(T) * V >= 16) {
    KerfPack<T, V> pack;
    uint4* const words = reinterpret_cast<uint4*>(&pack);
    #pragma unroll
    for (int i = 0; i < (int)(sizeof(T) * V / 16); ++i)
      asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
          : "=r"(words[i].x), "=r"(words[i].y), "=r"(words[i].z), "=r"(words[i].w)
          : "l"(reinterpret_cast<const uint4*>(place) + i));
    return pack;
  }
#endif
  return kerf_load<T, V>(place);
}

template <class T, int V>
__device__ __forceinline__ void kerf_store(T* place, const KerfPack<T, V>& pack) { *reinterpret_cast<KerfPack<T, V>*>(place) = pack; }

// The same in one instruction: where nothing but the type says how a place is aligned, the compiler may store element by element,
// each of which writes a part of every sector.
template <class T, int V>
__device__ __forceinline__ void kerf_store_whole(T* place, const KerfPack<T, V>& pack) {
#if __CUDA_ARCH__ >= 700
  if constexpr (sizeof(T) * V == 16) {
    const uint4 words = *reinterpret_cast<const uint4*>(&pack);
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :: "l"(place), "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w) : "memory");
    return;
  }
  if constexpr (sizeof(T) * V == 8) {
    const uint2 words = *reinterpret_cast<const uint2*>(&pack);
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" :: "l"(place), "r"(words.x), "r"(words.y) : "memory");
    return;
  }
#endif
  kerf_store<T, V>(place, pack);
}

__device__ __forceinline__ float kerf_from_half(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
__device__ __forceinline__ unsigned short kerf_to_half(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
__device__ __forceinline__ float kerf_from_bf16(unsigned short bits) { return __uint_as_float((unsigned int)bits << 16); }
__device__ __forceinline__ unsigned short kerf_to_bf16(float value) {
#if __CUDA_ARCH__ >= 800
  unsigned short rounded;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
  return rounded;
#else
  const unsigned int bits = __float_as_uint(value);
  return value != value ? 0x7fc0 : (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
#endif
}

template <class F>
__device__ __forceinline__ int kerf_to_i32(F value) {
  return value >= (F)-2147483648.0 && value < (F)2147483648.0 ? (int)value : -2147483647 - 1;
}
template <class F>
__device__ __forceinline__ long long kerf_to_i64(F value) {
  const F bound = (F)9223372036854775808.0;
  return value >= -bound && value < bound ? (long long)value : -9223372036854775807ll - 1;
}
template <class F>
__device__ __forceinline__ unsigned long long kerf_to_u64(F value) {
  const F bound = (F)9223372036854775808.0;
  if (!(value >= bound)) return (unsigned long long)kerf_to_i64(value);
  return (unsigned long long)kerf_to_i64(value - bound) ^ (1ull << 63);
}

template <class T>
__device__ __forceinline__ T kerf_max(T a, T b) { return a > b || a != a ? a : b; }
template <class T>
__device__ __forceinline__ T kerf_min(T a, T b) { return a < b || a != a ? a : b; }
// Of two zeros the positive one, or the negative one, wherever it stands: else threads that have combined a row's values in
// different orders would differ.
__device__ __forceinline__ double kerf_max(double a, double b) {
  if (a == b) return __longlong_as_double(__double_as_longlong(a) & __double_as_longlong(b));
  return a > b || a != a ? a : b;
}
__device__ __forceinline__ double kerf_min(double a, double b) {
  if (a == b) return __longlong_as_double(__double_as_longlong(a) | __double_as_longlong(b));
  return a < b || a != a ? a : b;
}
#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ float kerf_max(float a, float b) {
  float most;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
  return most;
}
__device__ __forceinline__ float kerf_min(float a, float b) {
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
}
// Where something lies in the shared memory.
__device__ __forceinline__ unsigned int kerf_shared(const void* place) {
  unsigned int own;
  asm("{ .reg .u64 place; cvta.to.shared.u64 place, %1; cvt.u32.u64 %0, place; }" : "=r"(own) : "l"(place));
  return own;
}
#else
__device__ __forceinline__ float kerf_max(float a, float b) {
  if (a == b) return __uint_as_float(__float_as_uint(a) & __float_as_uint(b));
  return a > b || a != a ? a : b;
}
__device__ __forceinline__ float kerf_min(float a, float b) {
  if (a == b) return __uint_as_float(__float_as_uint(a) | __float_as_uint(b));
  return a < b || a != a ? a : b;
}
#endif

// By what a and b are multiplied before a is multiplied by the inverse of b: 2^24 for a subnormal b, whose inverse is infinite.
__device__ __forceinline__ float kerf_scale(float b) { return fabsf(b) < 1.17549435e-38f ? 16777216.0f : 1.0f; }

// a / b for one b and many a, the bits of a division (Markstein): a product with the inverse of b, rounded to nearest, and what
// it leaves of a. Both are first multiplied by a power of two that has the sign of b, so that the inverse is a usual number; an
// infinite b is 0 here with the inverse 0. Infinities and NaN are those of the product. Of an a or a quotient below 2^-100 in
// size the last place may be off by one.
struct KerfDivisor {
  float scale, by, inverse;
};
__device__ __forceinline__ KerfDivisor kerf_divisor(float b) {
  const float size = fabsf(b);
  const float scale = size < 7.88860905e-31f ? 1.26765060e+30f : size > 1.26765060e+30f ? 7.88860905e-31f : 1.0f;
  const float scaled = size * scale;
  const bool isInfinite = scaled > 3.40282347e+38f;
  return {copysignf(scale, b), isInfinite ? 0.0f : scaled, isInfinite ? 0.0f : 1.0f / scaled};
}
__device__ __forceinline__ float kerf_quotient(float a, const KerfDivisor& divisor) {
  const float scaled = a * divisor.scale, first = scaled * divisor.inverse;
  const float left = fmaf(first, divisor.by, -scaled);
  return fabsf(first) <= 3.40282347e+38f ? fmaf(-left, divisor.inverse, first) : first;
}

// The four words of Philox 4x32-10.
__device__ __forceinline__ void kerf_words(unsigned int (&w)[4], unsigned long long key, unsigned long long counter) {
  w[0] = (unsigned int)counter, w[1] = (unsigned int)(counter >> 32), w[2] = 0, w[3] = 0;
  unsigned int first = (unsigned int)key, second = (unsigned int)(key >> 32);
  #pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = (unsigned long long)w[0] * 0xD2511F53u, b = (unsigned long long)w[2] * 0xCD9E8D57u;
    const unsigned int x = (unsigned int)(b >> 32) ^ w[1] ^ first, z = (unsigned int)(a >> 32) ^ w[3] ^ second;
    w[0] = x, w[1] = (unsigned int)b, w[2] = z, w[3] = (unsigned int)a;
    first += 0x9E3779B9u, second += 0xBB67AE85u;
  }
}
__device__ __forceinline__ int kerf_philox(long long key, long long counter, int word) {
  unsigned int words[4];
  kerf_words(words, (unsigned long long)key, (unsigned int)counter);
  return (int)words[word];
}

template <class T>
__device__ __forceinline__ T kerf_shuffle(T value, int distance) {
  if constexpr (sizeof(T) < 4)
    return (T)__shfl_xor_sync(0xffffffffu, (int)value, distance);
  else
    return __shfl_xor_sync(0xffffffffu, value, distance);
}

// One value of TEAM threads beside each other, which all of them get. A TEAM above 32 is the whole block.
template <int TEAM, class T, class F>
__device__ __forceinline__ T kerf_team(T value, F combine) {
  for (int distance = (TEAM < 32 ? TEAM : 32) / 2; distance > 0; distance /= 2) value = combine(value, kerf_shuffle(value, distance));
  if constexpr (TEAM > 32) {
    __shared__ T parts[TEAM / 32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[threadIdx.x % (TEAM / 32)];
    for (int distance = TEAM / 64; distance > 0; distance /= 2) value = combine(value, kerf_shuffle(value, distance));
  }
  return value;
}

#if __CUDA_ARCH__ >= 900
// All threads of a cluster of blocks wait for each other, and see what was written before.
__device__ __forceinline__ void kerf_meet() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ unsigned int kerf_rank() {
  unsigned int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
// `came` begins to count the bytes that come in each turn, of which one thread says how many; then other blocks may send.
__device__ __forceinline__ void kerf_count(unsigned int came) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(came) : "memory");
}
__device__ __forceinline__ void kerf_counts() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void kerf_expect(unsigned int came, int bytes) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }"
               :: "r"(came), "r"(bytes) : "memory");
}
// To the place and the count of this block's that are at the same places in that one's memory.
__device__ __forceinline__ void kerf_send(unsigned int place, unsigned long long bits, unsigned int came,
                                          unsigned int block) {
  unsigned int other, counter;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(place), "r"(block));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(counter) : "r"(came), "r"(block));
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];"
               :: "r"(other), "l"(bits), "r"(counter) : "memory");
}
// Whether all of a turn of this parity is there; 0 after a while.
__device__ __forceinline__ unsigned int kerf_have_come(unsigned int came, unsigned int parity) {
  unsigned int all;
  asm volatile("{ .reg .pred all; mbarrier.try_wait.parity.shared::cta.b64 all, [%1], %2; selp.u32 %0, 1, 0, all; }"
               : "=r"(all) : "r"(came), "r"(parity) : "memory");
  return all;
}
#endif

#if __CUDA_ARCH__ >= 900 || defined(KERF_ON_HOST)
// Where the blocks of a cluster put what each of them found, two places that take turns, and what counts the bytes that came.
template <int BLOCKS>
struct KerfMeeting {
  unsigned long long found[2][BLOCKS], came[2];
};
template <int BLOCKS>
__device__ __forceinline__ void kerf_begin(KerfMeeting<BLOCKS>& meeting) {
  if (threadIdx.x == 0) {
    #pragma unroll
    for (int side = 0; side < 2; ++side) kerf_count(kerf_shared(&meeting.came[side]));
    kerf_counts();
  }
  kerf_meet();
}

// One value of all threads of a cluster, which all of them get. A block sends its own to all blocks and waits for theirs, not for
// what it has written to memory, as meeting them would. Nobody sends for the turn after the next before it has all of the next
// one, for which a block sends when its threads have read this one: so two places are enough, and no block ends before all has come.
template <int THREADS, int BLOCKS, class T, class F>
__device__ __forceinline__ T kerf_cluster(T value, F combine, KerfMeeting<BLOCKS>& meeting, int& turn) {
  value = kerf_team<THREADS>(value, combine);
  const int side = turn & 1;
  const unsigned int parity = (unsigned int)turn >> 1 & 1u;
  const auto came = kerf_shared(&meeting.came[side]);
  ++turn;
  if (threadIdx.x == 0) kerf_expect(came, BLOCKS * 8);
  if (threadIdx.x < BLOCKS) {
    unsigned long long bits = 0;
    *reinterpret_cast<T*>(&bits) = value;
    kerf_send(kerf_shared(&meeting.found[side][kerf_rank()]), bits, came, threadIdx.x);
  }
  while (kerf_have_come(came, parity) == 0) {}
  #pragma unroll
  for (int block = 0; block < BLOCKS; ++block) {
    const unsigned long long bits = *const_cast<volatile unsigned long long*>(&meeting.found[side][block]);
    const T other = *reinterpret_cast<const T*>(&bits);
    value = block == 0 ? other : combine(value, other);
  }
  return value;
}
#endif

// VALUES of every thread of a block of COLUMNS times ROWS become those of each column, which the first row gets: first within
// each warp, then of all warps in their order.
template <int COLUMNS, int ROWS, int VALUES, class T, class F>
__device__ __forceinline__ void kerf_columns(T (&values)[VALUES], F combine, unsigned char* space) {
  for (int distance = 16; distance >= COLUMNS; distance /= 2)
    for (int v = 0; v < VALUES; ++v) values[v] = combine(values[v], kerf_shuffle(values[v], distance));
  T* const parts = reinterpret_cast<T*>(space) + threadIdx.x % COLUMNS;
  __syncthreads();
  if (threadIdx.x % 32 < COLUMNS)
    for (int v = 0; v < VALUES; ++v) parts[(threadIdx.x / 32 * VALUES + v) * COLUMNS] = values[v];
  __syncthreads();
  if (threadIdx.x >= COLUMNS) return;
  for (int warp = 1; warp < COLUMNS * ROWS / 32; ++warp)
    for (int v = 0; v < VALUES; ++v) values[v] = combine(values[v], parts[(warp * VALUES + v) * COLUMNS]);
}

// What several blocks gather for one result: 8 bytes for each part, and whether this block is the last of `blocks`.
template <class T>
__device__ __forceinline__ void kerf_put_part(unsigned char* parts, long long place, T value) {
  *reinterpret_cast<volatile T*>(parts + place * 8) = value;
}
template <class T>
__device__ __forceinline__ T kerf_part(unsigned char* parts, long long place) {
  return *reinterpret_cast<volatile T*>(parts + place * 8);
}
__device__ __forceinline__ bool kerf_is_last(unsigned int* counter, unsigned int blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(counter, 1u) == blocks - 1;
    if (last) *counter = 0;
  }
  __syncthreads();
  __threadfence();
  return last;
}
)cuda";
}

}  // namespace kerf::inline codegen_cuda
