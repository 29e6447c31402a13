#include "engine/mathlib/lapack.h"

#include <cblas.h>

#include <limits>

#include "engine/mathlib/lapacke.h"
#include "engine/mathlib/math_threads.h"

namespace kerf::inline mathlib::lapack {

bool fitsInt(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t limit = 1 << 20;
  return rows >= 0 && columns >= 0 && rows <= limit && columns <= limit &&
         rows * columns <= std::numeric_limits<int>::max();
}

template <class T>
int choleskyFactor(char uplo, int n, T* a) {
  applyBlasThreads();
  return call(pick<T>(LAPACKE_dpotrf, LAPACKE_zpotrf), uplo, n, a, leading(n));
}

template <class T>
int choleskyInvert(char uplo, int n, T* a) {
  return call(pick<T>(LAPACKE_dpotri, LAPACKE_zpotri), uplo, n, a, leading(n));
}

template <class T>
int choleskySolve(char uplo, int n, int rhs, const T* a, T* b) {
  return call(pick<T>(LAPACKE_dpotrs, LAPACKE_zpotrs), uplo, n, rhs, a, leading(n), b, leading(n));
}

template <class T>
int luFactor(int m, int n, T* a, int* pivots) {
  applyBlasThreads();
  return call(pick<T>(LAPACKE_dgetrf, LAPACKE_zgetrf), m, n, a, leading(m), pivots);
}

template <class T>
int luSolve(char trans, int n, int rhs, const T* lu, const int* pivots, T* b) {
  return call(pick<T>(LAPACKE_dgetrs, LAPACKE_zgetrs), trans, n, rhs, lu, leading(n), pivots, b, leading(n));
}

template <class T>
int luInvert(int n, T* lu, const int* pivots) {
  return call(pick<T>(LAPACKE_dgetri, LAPACKE_zgetri), n, lu, leading(n), pivots);
}

template <class T>
int ldlFactor(bool hermitian, char uplo, int n, T* a, int* pivots) {
  const auto routine = pick<T>(LAPACKE_dsytrf, hermitian ? LAPACKE_zhetrf : LAPACKE_zsytrf);
  return call(routine, uplo, n, a, leading(n), pivots);
}

template <class T>
int ldlSolve(bool hermitian, char uplo, int n, int rhs, const T* a, const int* pivots, T* b) {
  const auto routine = pick<T>(LAPACKE_dsytrs, hermitian ? LAPACKE_zhetrs : LAPACKE_zsytrs);
  return call(routine, uplo, n, rhs, a, leading(n), pivots, b, leading(n));
}

template <class T>
int qrFactor(int m, int n, T* a, T* tau) {
  applyBlasThreads();
  return call(pick<T>(LAPACKE_dgeqrf, LAPACKE_zgeqrf), m, n, a, leading(m), tau);
}

template <class T>
int qrForm(int m, int n, int k, T* a, const T* tau) {
  return call(pick<T>(LAPACKE_dorgqr, LAPACKE_zungqr), m, n, k, a, leading(m), tau);
}

template <class T>
int qrApply(char side, char trans, int m, int n, int k, const T* a, const T* tau, T* c) {
  const int lda = leading(side == 'L' ? m : n);
  return call(pick<T>(LAPACKE_dormqr, LAPACKE_zunmqr), side, trans, m, n, k, a, lda, tau, c, leading(m));
}

template <class T>
void triangularSolve(char side, char uplo, char trans, bool unit, int m, int n, const T* a, T* b) {
  if (m == 0 || n == 0) return;
  applyBlasThreads();
  const CBLAS_SIDE cSide = side == 'L' ? CblasLeft : CblasRight;
  const CBLAS_UPLO cUplo = uplo == 'L' ? CblasLower : CblasUpper;
  const CBLAS_TRANSPOSE cTrans = trans == 'N' ? CblasNoTrans : trans == 'T' ? CblasTrans : CblasConjTrans;
  const CBLAS_DIAG cDiag = unit ? CblasUnit : CblasNonUnit;
  const int lda = leading(side == 'L' ? m : n), ldb = leading(m);
  const BlasTurn turn;
  if constexpr (isReal<T>) {
    cblas_dtrsm(CblasColMajor, cSide, cUplo, cTrans, cDiag, m, n, 1.0, a, lda, b, ldb);
  } else {
    const Complex one = 1;
    cblas_ztrsm(CblasColMajor, cSide, cUplo, cTrans, cDiag, m, n, &one, a, lda, b, ldb);
  }
}

#define KERF_INSTANTIATE(T)                                                \
  template int choleskyFactor(char, int, T*);                              \
  template int choleskyInvert(char, int, T*);                              \
  template int choleskySolve(char, int, int, const T*, T*);                \
  template int luFactor(int, int, T*, int*);                               \
  template int luSolve(char, int, int, const T*, const int*, T*);          \
  template int luInvert(int, T*, const int*);                              \
  template int ldlFactor(bool, char, int, T*, int*);                       \
  template int ldlSolve(bool, char, int, int, const T*, const int*, T*);   \
  template int qrFactor(int, int, T*, T*);                                 \
  template int qrForm(int, int, int, T*, const T*);                        \
  template int qrApply(char, char, int, int, int, const T*, const T*, T*); \
  template void triangularSolve(char, char, char, bool, int, int, const T*, T*);
KERF_INSTANTIATE(double)
KERF_INSTANTIATE(Complex)
#undef KERF_INSTANTIATE

}  // namespace kerf::inline mathlib::lapack
