#include "engine/mathlib/lapack.h"

#include <cblas.h>

#include <limits>

#include "engine/mathlib/lapack_symbols.h"
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
  int info = 0;
  const int lda = leading(n);
  if constexpr (isReal<T>)
    dpotrf_(&uplo, &n, a, &lda, &info, 1);
  else
    zpotrf_(&uplo, &n, a, &lda, &info, 1);
  return info;
}

template <class T>
int choleskyInvert(char uplo, int n, T* a) {
  int info = 0;
  const int lda = leading(n);
  if constexpr (isReal<T>)
    dpotri_(&uplo, &n, a, &lda, &info, 1);
  else
    zpotri_(&uplo, &n, a, &lda, &info, 1);
  return info;
}

template <class T>
int choleskySolve(char uplo, int n, int rhs, const T* a, T* b) {
  int info = 0;
  const int lda = leading(n);
  if constexpr (isReal<T>)
    dpotrs_(&uplo, &n, &rhs, a, &lda, b, &lda, &info, 1);
  else
    zpotrs_(&uplo, &n, &rhs, a, &lda, b, &lda, &info, 1);
  return info;
}

template <class T>
int luFactor(int m, int n, T* a, int* pivots) {
  applyBlasThreads();
  int info = 0;
  const int lda = leading(m);
  if constexpr (isReal<T>)
    dgetrf_(&m, &n, a, &lda, pivots, &info);
  else
    zgetrf_(&m, &n, a, &lda, pivots, &info);
  return info;
}

template <class T>
int luSolve(char trans, int n, int rhs, const T* lu, const int* pivots, T* b) {
  int info = 0;
  const int lda = leading(n);
  if constexpr (isReal<T>)
    dgetrs_(&trans, &n, &rhs, lu, &lda, pivots, b, &lda, &info, 1);
  else
    zgetrs_(&trans, &n, &rhs, lu, &lda, pivots, b, &lda, &info, 1);
  return info;
}

template <class T>
int luInvert(int n, T* lu, const int* pivots) {
  int info = 0;
  const int lda = leading(n);
  withWork<T>([&](T* work, const int* length) {
    if constexpr (isReal<T>)
      dgetri_(&n, lu, &lda, pivots, work, length, &info);
    else
      zgetri_(&n, lu, &lda, pivots, work, length, &info);
  });
  return info;
}

template <class T>
int ldlFactor(bool hermitian, char uplo, int n, T* a, int* pivots) {
  int info = 0;
  const int lda = leading(n);
  withWork<T>([&](T* work, const int* length) {
    if constexpr (isReal<T>)
      dsytrf_(&uplo, &n, a, &lda, pivots, work, length, &info, 1);
    else
      (hermitian ? zhetrf_ : zsytrf_)(&uplo, &n, a, &lda, pivots, work, length, &info, 1);
  });
  return info;
}

template <class T>
int ldlSolve(bool hermitian, char uplo, int n, int rhs, const T* a, const int* pivots, T* b) {
  int info = 0;
  const int lda = leading(n);
  if constexpr (isReal<T>)
    dsytrs_(&uplo, &n, &rhs, a, &lda, pivots, b, &lda, &info, 1);
  else
    (hermitian ? zhetrs_ : zsytrs_)(&uplo, &n, &rhs, a, &lda, pivots, b, &lda, &info, 1);
  return info;
}

template <class T>
int qrFactor(int m, int n, T* a, T* tau) {
  applyBlasThreads();
  int info = 0;
  const int lda = leading(m);
  withWork<T>([&](T* work, const int* length) {
    if constexpr (isReal<T>)
      dgeqrf_(&m, &n, a, &lda, tau, work, length, &info);
    else
      zgeqrf_(&m, &n, a, &lda, tau, work, length, &info);
  });
  return info;
}

template <class T>
int qrForm(int m, int n, int k, T* a, const T* tau) {
  int info = 0;
  const int lda = leading(m);
  withWork<T>([&](T* work, const int* length) {
    if constexpr (isReal<T>)
      dorgqr_(&m, &n, &k, a, &lda, tau, work, length, &info);
    else
      zungqr_(&m, &n, &k, a, &lda, tau, work, length, &info);
  });
  return info;
}

template <class T>
int qrApply(char side, char trans, int m, int n, int k, const T* a, const T* tau, T* c) {
  int info = 0;
  const int lda = leading(side == 'L' ? m : n), ldc = leading(m);
  withWork<T>([&](T* work, const int* length) {
    if constexpr (isReal<T>)
      dormqr_(&side, &trans, &m, &n, &k, a, &lda, tau, c, &ldc, work, length, &info, 1, 1);
    else
      zunmqr_(&side, &trans, &m, &n, &k, a, &lda, tau, c, &ldc, work, length, &info, 1, 1);
  });
  return info;
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
