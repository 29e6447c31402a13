// The functions that every generated CUDA source begins with. No header of CUDA is needed.
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline codegen_cuda {

std::string_view preamble() {
  return R"cuda(template <class T, int V>
struct alignas(sizeof(T) * V) KerfPack { T at[V]; };

template <class T, int V>
__device__ __forceinline__ KerfPack<T, V> kerf_load(const T* place) { return *reinterpret_cast<const KerfPack<T, V>*>(place); }

template <class T, int V>
__device__ __forceinline__ void kerf_store(T* place, const KerfPack<T, V>& pack) { *reinterpret_cast<KerfPack<T, V>*>(place) = pack; }

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
  const unsigned int bits = __float_as_uint(value);
  return value != value ? 0x7fc0 : (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
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

__device__ __forceinline__ int kerf_philox(long long key, long long counter, int word) {
  unsigned int words[4] = {(unsigned int)counter, 0, 0, 0};
  unsigned int first = (unsigned int)key, second = (unsigned int)((unsigned long long)key >> 32);
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = (unsigned long long)words[0] * 0xD2511F53u, b = (unsigned long long)words[2] * 0xCD9E8D57u;
    const unsigned int x = (unsigned int)(b >> 32) ^ words[1] ^ first, z = (unsigned int)(a >> 32) ^ words[3] ^ second;
    words[0] = x, words[1] = (unsigned int)b, words[2] = z, words[3] = (unsigned int)a;
    first += 0x9E3779B9u, second += 0xBB67AE85u;
  }
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
    value = parts[0];
    for (int warp = 1; warp < TEAM / 32; ++warp) value = combine(value, parts[warp]);
  }
  return value;
}

// One value of every column of a block of COLUMNS times ROWS threads.
template <int COLUMNS, int ROWS, class T, class F>
__device__ __forceinline__ T kerf_columns(T value, F combine) {
  __shared__ T parts[ROWS][COLUMNS];
  const int column = threadIdx.x % COLUMNS, row = threadIdx.x / COLUMNS;
  __syncthreads();
  parts[row][column] = value;
  for (int distance = ROWS / 2; distance > 0; distance /= 2) {
    __syncthreads();
    if (row < distance) parts[row][column] = combine(parts[row][column], parts[row + distance][column]);
  }
  __syncthreads();
  return parts[0][column];
}
)cuda";
}

}  // namespace kerf::inline codegen_cuda
