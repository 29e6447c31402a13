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
  bool byOneDnn = false;  ///< by OpenBLAS otherwise
};

/// Whether oneDNN is the faster one. For a product that is computed in parts the answer for the whole is that of every
/// part, so that the bits do not depend on how many there are.
bool prefersOneDnn(const SingleGemm& call);

/// c = alpha * a @ b + beta * c, row-major, on the calling thread.
void singleGemm(const SingleGemm& call, const float* a, const float* b, float* c);
/// "OpenBLAS (SkylakeX)", "oneDNN": who multiplies large float32 matrices here.
const char* singleGemmLibrary();

}  // namespace kerf::inline mathlib
