// Eigenvalues, singular values and least squares of lapack.h.
#include "engine/mathlib/lapack.h"
#include "engine/mathlib/lapacke.h"
#include "engine/mathlib/math_threads.h"

namespace kerf::inline mathlib::lapack {
namespace {

std::size_t count(std::int64_t n) { return std::size_t(std::max<std::int64_t>(1, n)); }

/// LAPACK stores a conjugate pair of eigenvectors as real and imaginary columns side by side.
void unpackPairs(int n, const double* imaginary, const double* packed, Complex* vectors) {
  for (int j = 0; j < n; ++j) {
    const bool first = imaginary[j] > 0 && j + 1 < n;
    for (int i = 0; i < n; ++i) {
      const double re = packed[std::size_t(j) * std::size_t(n) + std::size_t(i)];
      Complex* const here = vectors + std::size_t(j) * std::size_t(n) + std::size_t(i);
      *here = re;
      if (!first) continue;
      const double im = packed[std::size_t(j + 1) * std::size_t(n) + std::size_t(i)];
      here[0] = {re, im};
      here[n] = {re, -im};
    }
    if (first) ++j;
  }
}

}  // namespace

template <class T>
int eigenSymmetric(bool vectors, char uplo, int n, T* a, double* values) {
  applyBlasThreads();
  return call(pick<T>(LAPACKE_dsyevd, LAPACKE_zheevd), vectors ? 'V' : 'N', uplo, n, a, leading(n), values);
}

template <>
int eigenGeneral(int n, double* a, Complex* values, Complex* vectors) {
  applyBlasThreads();
  std::vector<double> re(count(n)), im(count(n)), packed(vectors ? count(std::int64_t{n} * n) : 1);
  double* const none = nullptr;
  const int info = call(LAPACKE_dgeev, 'N', vectors ? 'V' : 'N', n, a, leading(n), re.data(), im.data(), none, 1,
                        packed.data(), leading(n));
  for (int i = 0; i < n; ++i) values[i] = {re[std::size_t(i)], im[std::size_t(i)]};
  if (vectors) unpackPairs(n, im.data(), packed.data(), vectors);
  return info;
}

template <>
int eigenGeneral(int n, Complex* a, Complex* values, Complex* vectors) {
  applyBlasThreads();
  Complex unused;
  Complex* const none = nullptr;
  return call(LAPACKE_zgeev, 'N', vectors ? 'V' : 'N', n, a, leading(n), values, none, 1, vectors ? vectors : &unused,
              leading(n));
}

template <class T>
int singularValues(char job, int m, int n, T* a, double* values, T* u, T* vh) {
  applyBlasThreads();
  const int ldv = leading(job == 'A' ? n : std::min(m, n));
  return call(pick<T>(LAPACKE_dgesdd, LAPACKE_zgesdd), job, m, n, a, leading(m), values, u, leading(m), vh, ldv);
}

template <class T>
int leastSquares(LeastSquares driver, int m, int n, int rhs, T* a, T* b, double rcond, int& rank, double* values) {
  applyBlasThreads();
  const int lda = leading(m), ldb = leading(std::max(m, n));
  if (driver == LeastSquares::Qr) return call(pick<T>(LAPACKE_dgels, LAPACKE_zgels), 'N', m, n, rhs, a, lda, b, ldb);
  if (driver == LeastSquares::QrPivoted) {
    std::vector<int> pivots(count(n), 0);
    return call(pick<T>(LAPACKE_dgelsy, LAPACKE_zgelsy), m, n, rhs, a, lda, b, ldb, pivots.data(), rcond, &rank);
  }
  const auto routine =
      driver == LeastSquares::Svd ? pick<T>(LAPACKE_dgelss, LAPACKE_zgelss) : pick<T>(LAPACKE_dgelsd, LAPACKE_zgelsd);
  return call(routine, m, n, rhs, a, lda, b, ldb, values, rcond, &rank);
}

template int eigenSymmetric(bool, char, int, double*, double*);
template int eigenSymmetric(bool, char, int, Complex*, double*);
template int singularValues(char, int, int, double*, double*, double*, double*);
template int singularValues(char, int, int, Complex*, double*, Complex*, Complex*);
template int leastSquares(LeastSquares, int, int, int, double*, double*, double, int&, double*);
template int leastSquares(LeastSquares, int, int, int, Complex*, Complex*, double, int&, double*);

}  // namespace kerf::inline mathlib::lapack
