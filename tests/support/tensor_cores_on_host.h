// What kernels for tensor cores call (device_tensor_cores.cpp), on the CPU: each lane of a warp shows the others what
// it holds, as PTX's documentation lays squares out over lanes.
#pragma once

#include <string_view>

namespace kerf::testing_support {

inline constexpr std::string_view tensorCoresOnHost = R"source(
struct float2 { float x, y; };
static inline float2 make_float2(float x, float y) { return {x, y}; }
// Until it is waited for, there is anything but what is copied.
static inline void kerf_copy_async(KerfShared to, const void* from, bool there) {
  if ((size_t)from % 16 != 0 || to % 16 != 0) kerfFail("16 bytes are copied from or to no multiple of 16");
  KerfCopy copy{(void*)to, {}};
  if (there) memcpy(copy.bytes, from, 16);
  memset(copy.to, 0xff, 16);
  kerfThreads[kerfNow].copies.push_back(copy);
}
static inline void kerf_copied() {
  for (const KerfCopy& copy : kerfThreads[kerfNow].copies) memcpy(copy.to, copy.bytes, 16);
  kerfThreads[kerfNow].copies.clear();
}
static inline float kerf_exp2(float x) { return exp2f(x); }
static float kerfHalf(bool bf16, unsigned int bits) {
  if (bf16) return __uint_as_float(bits << 16);
  const unsigned short own = (unsigned short)bits;
  _Float16 h; memcpy(&h, &own, 2);
  return h;
}
static unsigned int kerfBits(bool bf16, float value) {
  unsigned int bits = __float_as_uint(value);
  if (bf16) return value != value ? 0x7fc0 : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  const _Float16 h = value; unsigned short own; memcpy(&own, &h, 2);
  return own;
}
static inline unsigned int kerfPair(bool bf16, float first, float second) {
  return kerfBits(bf16, first) | kerfBits(bf16, second) << 16;
}
#define kerf_pair(first, second) kerfPair(IS_BF16, first, second)

static KerfShared kerfRows[1024];
static void kerfSquares(bool turned, unsigned int (&x)[4], KerfShared row) {
  const unsigned int own = threadIdx.x, lane = own % 32, warp = own - lane;
  kerfRows[own] = row;
  __syncwarp();
  for (unsigned int square = 0; square < 4; ++square) {
    unsigned short two[2];
    for (unsigned int i = 0; i < 2; ++i) {
      const unsigned int r = turned ? lane % 4 * 2 + i : lane / 4, c = turned ? lane / 4 : lane % 4 * 2 + i;
      two[i] = ((const unsigned short*)kerfRows[warp + square * 8 + r])[c];
    }
    x[square] = two[0] | (unsigned int)two[1] << 16;
  }
  __syncwarp();
}
static void kerf_squares(unsigned int (&x)[4], KerfShared row) { kerfSquares(false, x, row); }
static void kerf_turned_squares(unsigned int (&x)[4], KerfShared row) { kerfSquares(true, x, row); }

static unsigned int kerfFactors[1024][6];
static void kerfMultiply(bool bf16, float (&c)[4], const unsigned int (&a)[4], unsigned int b0, unsigned int b1) {
  const unsigned int own = threadIdx.x, lane = own % 32, warp = own - lane;
  memcpy(kerfFactors[own], a, 16), kerfFactors[own][4] = b0, kerfFactors[own][5] = b1;
  __syncwarp();
  for (unsigned int i = 0; i < 4; ++i) {
    const unsigned int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    double sum = c[i];
    for (unsigned int k = 0; k < 16; ++k) {
      const unsigned int left = kerfFactors[warp + row % 8 * 4 + k % 8 / 2][row / 8 + k / 8 * 2];
      const unsigned int right = kerfFactors[warp + column * 4 + k % 8 / 2][4 + k / 8];
      sum += (double)kerfHalf(bf16, left >> k % 2 * 16 & 0xffff) * kerfHalf(bf16, right >> k % 2 * 16 & 0xffff);
    }
    c[i] = (float)sum;
  }
  __syncwarp();
}
#define kerf_multiply(c, a, b0, b1) kerfMultiply(IS_BF16, c, a, b0, b1)
)source";

}  // namespace kerf::testing_support
