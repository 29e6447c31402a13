// What kernels that multiply by tensor cores are written in: 16-bit squares in shared memory, and products of a warp.
#include "engine/backend/cuda/device_flash.h"

namespace kerf::inline backend {

/// IS_BF16: what T's bits are. Rows of a tile have 8 elements more than are used, so that the eight rows that a warp reads at once lie
/// in different banks.
static constexpr std::string_view source = R"cuda(
#ifndef KERF_ON_HOST
typedef unsigned int KerfShared;
#define KERF_DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
// 16 bytes on their way to shared memory; zeros where nothing is there.
__device__ __forceinline__ void kerf_copy_async(KerfShared to, const void* from, bool there) {
  asm volatile("{ .reg .u64 place; cvta.to.global.u64 place, %1; cp.async.cg.shared.global [%0], [place], 16, %2; }"
               :: "r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
}
__device__ __forceinline__ void kerf_copied() { asm volatile("cp.async.wait_all;" ::: "memory"); }
// Four squares of 8 x 8: lane i names row i % 8 of square i / 8, and gets elements 2 (i % 4) and the next of row i / 4 of each.
__device__ __forceinline__ void kerf_squares(unsigned int (&x)[4], KerfShared row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(row) : "memory");
}
__device__ __forceinline__ void kerf_turned_squares(unsigned int (&x)[4], KerfShared row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(row) : "memory");
}
// c += a b: [16, 16] times [16, 8].
__device__ __forceinline__ void kerf_multiply(float (&c)[4], const unsigned int (&a)[4], unsigned int b0, unsigned int b1) {
#if IS_BF16
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
#endif
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ unsigned int kerf_pair(float first, float second) {
  unsigned int pair;
#if IS_BF16
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
#else
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
#endif
  return pair;
}
__device__ __forceinline__ float kerf_exp2(float x) {
  float value;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
}
#endif

// Rows `first` to `first + ROWS` of a matrix whose rows are `step` apart become a tile; what lies outside becomes zeros.
template <int ROWS, int COLUMNS, int THREADS>
__device__ __forceinline__ void kerf_fetch(KerfShared tile, const unsigned short* from, long long step, int first, int rows, int columns) {
  constexpr int packs = COLUMNS / 8, all = ROWS * packs;
  #pragma unroll
  for (int i = 0; i < (all + THREADS - 1) / THREADS; ++i) {
    const int at = i * THREADS + (int)threadIdx.x, row = at / packs, column = at % packs * 8;
    if (all % THREADS != 0 && at >= all) break;
    const bool there = first + row < rows && column < columns;
    kerf_copy_async(tile + (row * (COLUMNS + 8) + column) * 2, there ? from + (first + row) * step + column : from, there);
  }
}
// A 16 x 16 piece of a tile of rows of COLUMNS, as the left factor, and as the right one of which two are [16, 8]: read along the
// tile's rows (its rows are the product's columns), or across them.
template <int COLUMNS>
__device__ __forceinline__ void kerf_left(unsigned int (&x)[4], KerfShared tile, int row, int column) {
  const int lane = threadIdx.x % 32;
  kerf_squares(x, tile + ((row + lane % 16) * (COLUMNS + 8) + column + lane / 16 * 8) * 2);
}
template <int COLUMNS>
__device__ __forceinline__ void kerf_right_turned(unsigned int (&x)[4], KerfShared tile, int row, int column) {
  const int lane = threadIdx.x % 32;
  kerf_squares(x, tile + ((row + lane / 16 * 8 + lane % 8) * (COLUMNS + 8) + column + lane / 8 % 2 * 8) * 2);
}
template <int COLUMNS>
__device__ __forceinline__ void kerf_right(unsigned int (&x)[4], KerfShared tile, int row, int column) {
  const int lane = threadIdx.x % 32;
  kerf_turned_squares(x, tile + ((row + lane % 16) * (COLUMNS + 8) + column + lane / 16 * 8) * 2);
}
)cuda";

std::string_view tensorCoreSource() { return source; }

}  // namespace kerf::inline backend
