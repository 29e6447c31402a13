#include "engine/mathlib/single_gemm.h"

#include <algorithm>
#include <string>

#include <cblas.h>
#include <dnnl.h>

#include "engine/mathlib/math_threads.h"

extern "C" char* openblas_get_corename(void);

namespace kerf::inline mathlib {
namespace {

/// Below this size both libraries are as fast.
constexpr std::int64_t smallest = 16;

bool openBlasHasWideVectors() {
  const std::string core = openblas_get_corename();
  return std::ranges::any_of(std::initializer_list<const char*>{"SkylakeX", "Cooperlake", "SapphireRapids"},
                             [&](const char* name) { return core == name; });
}

bool usesOneDnn() {
  static const bool narrow = __builtin_cpu_supports("avx512f") && !openBlasHasWideVectors();
  return narrow;
}

}  // namespace

const char* singleGemmLibrary() {
  static const std::string openBlas = std::string("OpenBLAS (") + openblas_get_corename() + ")";
  return usesOneDnn() ? "oneDNN" : openBlas.c_str();
}

void singleGemm(const SingleGemm& call, const float* a, const float* b, float* c) {
  if (usesOneDnn() && std::min({call.m, call.n, call.k}) >= smallest) {
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
