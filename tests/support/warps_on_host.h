// What threads of a warp show each other, and functions of CUDA C++ that C++ has not, on the CPU (threads_on_host.h).
#pragma once

#include <string_view>

namespace kerf::testing_support {

inline constexpr std::string_view warpsOnHost = R"source(
static unsigned long long kerfWords[1024];
// What the thread `from` of the block gives.
template <class T> static T kerfShown(T value, unsigned int from) {
  memcpy(&kerfWords[threadIdx.x], &value, sizeof value);
  __syncwarp();
  T other;
  memcpy(&other, &kerfWords[from], sizeof other);
  __syncwarp();
  return other;
}
template <class T> static T __shfl_xor_sync(unsigned int, T value, int distance) {
  return kerfShown(value, threadIdx.x ^ distance);
}
template <class T> static T __shfl_sync(unsigned int, T value, int lane) {
  return kerfShown(value, threadIdx.x / 32 * 32 + lane);
}
template <class T> static T __shfl_up_sync(unsigned int, T value, int distance) {
  return kerfShown(value, threadIdx.x % 32 >= (unsigned int)distance ? threadIdx.x - distance : threadIdx.x);
}
static inline unsigned int __match_any_sync(unsigned int, unsigned int value) {
  kerfWords[threadIdx.x] = value;
  __syncwarp();
  unsigned int same = 0;
  for (unsigned int lane = 0; lane < 32; ++lane)
    same |= (unsigned int)(kerfWords[threadIdx.x / 32 * 32 + lane] == value) << lane;
  __syncwarp();
  return same;
}
static inline void __threadfence() {}
static inline int __popc(unsigned int bits) { return __builtin_popcount(bits); }
template <class T> static T atomicExch(T* place, T value) { return std::exchange(*place, value); }
template <class T> static T atomicCAS(T* place, T expected, T value) {
  return std::exchange(*place, *place == expected ? value : *place);
}
static unsigned int atomicAdd(unsigned int* place, unsigned int value) { return std::exchange(*place, *place + value); }
static unsigned long long atomicAdd(unsigned long long* place, unsigned long long value) {
  return std::exchange(*place, *place + value);
}
static unsigned long long atomicMin(unsigned long long* place, unsigned long long value) {
  return std::exchange(*place, value < *place ? value : *place);
}
template <class To, class From> static To kerfBitsOf(From value) {
  static_assert(sizeof(To) == sizeof value);
  To bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline unsigned int __float_as_uint(float value) { return kerfBitsOf<unsigned int>(value); }
static inline float __int_as_float(int bits) { return kerfBitsOf<float>(bits); }
static inline float __uint_as_float(unsigned int bits) { return kerfBitsOf<float>(bits); }
static inline long long __double_as_longlong(double value) { return kerfBitsOf<long long>(value); }
static inline double __longlong_as_double(long long bits) { return kerfBitsOf<double>(bits); }
)source";

}  // namespace kerf::testing_support
