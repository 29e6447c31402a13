// singleGemm: float32 matrix products on the library that knows the processor better.
#pragma once

#include <cstdint>

namespace kerf::inline mathlib {

struct SingleGemm {
  bool transposedA = false, transposedB = false;
  std::int64_t m = 0, n = 0, k = 0;
  float alpha = 1;
  std::int64_t lda = 1, ldb = 1;
  float beta = 0;
  std::int64_t ldc = 1;
};

/// c = alpha * a @ b + beta * c, row-major, on the calling thread. OpenBLAS, but oneDNN where OpenBLAS chose kernels
/// with narrower vectors than the processor has: OpenBLAS 0.3.21 does not know processors that are newer than it.
void singleGemm(const SingleGemm& call, const float* a, const float* b, float* c);
/// "OpenBLAS (SkylakeX)", "oneDNN": who multiplies large float32 matrices here.
const char* singleGemmLibrary();

}  // namespace kerf::inline mathlib
