#include "engine/mathlib/single_gemm.h"

#include <algorithm>
#include <string>

#include <cblas.h>
#include <dnnl.h>

#include "engine/mathlib/math_threads.h"

extern "C" char* openblas_get_corename(void);

namespace kerf::inline mathlib {
namespace {

/// Multiplications below which both libraries are as fast.
constexpr std::int64_t smallest = 4096;

bool openBlasHasWideVectors() {
  const std::string core = openblas_get_corename();
  return std::ranges::any_of(std::initializer_list<const char*>{"SkylakeX", "Cooperlake", "SapphireRapids"},
                             [&](const char* name) { return core == name; });
}

/// Long rows of a result, of long rows or columns: oneDNN's kernels take 0.5 to 0.9 times as long as OpenBLAS's there, the
/// fewer rows or products the less. Elsewhere OpenBLAS's start sooner, and take a transposed pair better.
bool isWide(const SingleGemm& call) {
  constexpr std::int64_t wide = 128, fewestProducts = 4;
  static const bool hasWideVectors = __builtin_cpu_supports("avx512f");
  if (!hasWideVectors || (call.transposedA && call.transposedB)) return false;
  return call.m > 1 && call.k >= fewestProducts && call.n >= wide && std::max(call.m, call.k) >= wide;
}

/// OpenBLAS 0.3.21 does not know processors that are newer than it, and takes kernels with narrower vectors on them.
bool usesOneDnn() {
  static const bool narrow = __builtin_cpu_supports("avx512f") && !openBlasHasWideVectors();
  return narrow;
}

}  // namespace

bool prefersOneDnn(const SingleGemm& call) {
  return isWide(call) || (usesOneDnn() && std::min({call.m, call.n, call.k}) > 1 && call.m * call.n * call.k >= smallest);
}

const char* singleGemmLibrary() {
  static const std::string openBlas = std::string("OpenBLAS (") + openblas_get_corename() + ")";
  return usesOneDnn() ? "oneDNN" : openBlas.c_str();
}

void singleGemm(const SingleGemm& call, const float* a, const float* b, float* c) {
  if (call.byOneDnn) {
    applyOpenMpThreads(1);
    const auto done = dnnl_sgemm(call.transposedA ? 'T' : 'N', call.transposedB ? 'T' : 'N', call.m, call.n, call.k,
                                 call.alpha, a, call.lda, b, call.ldb, call.beta, c, call.ldc);
    if (done == dnnl_success) return;
  }
  cblas_sgemm(CblasRowMajor, call.transposedA ? CblasTrans : CblasNoTrans, call.transposedB ? CblasTrans : CblasNoTrans,
              blasint(call.m), blasint(call.n), blasint(call.k), call.alpha, a, blasint(call.lda), b, blasint(call.ldb),
              call.beta, c, blasint(call.ldc));
}

}  // namespace kerf::inline mathlib
