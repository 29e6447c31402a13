#include "engine/mathlib/library_gemm.h"

#include <algorithm>
#include <climits>

#include <cblas.h>
#include <dnnl.h>
#include <fmt/format.h>

#include "engine/mathlib/blas_turn.h"
#include "engine/mathlib/math_threads.h"

namespace kerf::inline mathlib {
namespace {

Result<void> byOpenBlas(const PanelProduct<float>& g, const float* a, const float* b, float* c) {
  applyBlasThreads();
  const BlasTurn turn;
  cblas_sgemm(CblasRowMajor, g.transposedA ? CblasTrans : CblasNoTrans, g.transposedB ? CblasTrans : CblasNoTrans,
              blasint(g.m), blasint(g.n), blasint(g.k), g.alpha, a, blasint(g.lda), b, blasint(g.ldb), g.beta, c,
              blasint(g.ldc));
  return {};
}

Result<void> byOneDnn(const PanelProduct<float>& g, const float* a, const float* b, float* c) {
  applyOpenMpThreads(mathThreads());
  const dnnl_status_t status = ::dnnl_sgemm(g.transposedA ? 'T' : 'N', g.transposedB ? 'T' : 'N', g.m, g.n, g.k,
                                            g.alpha, a, g.lda, b, g.ldb, g.beta, c, g.ldc);
  if (status == dnnl_success) return {};
  return fail(ErrorCode::UnsupportedOp, "oneDNN refuses a product of [{}, {}] x [{}, {}] (status {})", g.m, g.k, g.k,
              g.n, int(status));
}

}  // namespace

std::string describeLibrary(GemmLibrary library) {
  if (library == GemmLibrary::OpenBlas) {
    const std::string config = ::openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE …"
    return fmt::format("{}, {}", config.substr(0, config.find(' ', config.find(' ') + 1)), ::openblas_get_corename());
  }
  const dnnl_version_t* const version = ::dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

Result<void> libraryGemm(GemmLibrary library, const PanelProduct<float>& product, const float* a, const float* b,
                         float* c) {
  const PanelProduct<float>& g = product;
  if (std::max({g.m, g.n, g.k, g.lda, g.ldb, g.ldc}) > INT_MAX)
    return fail(ErrorCode::TooLarge, "a product of [{}, {}] x [{}, {}] is beyond the libraries", g.m, g.k, g.k, g.n);
  return library == GemmLibrary::OpenBlas ? byOpenBlas(g, a, b, c) : byOneDnn(g, a, b, c);
}

}  // namespace kerf::inline mathlib
