// Eigenvalues, singular values and least squares of lapack.h.
#include "engine/mathlib/lapack.h"
#include "engine/mathlib/lapack_symbols.h"
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

template <>
int eigenSymmetric(bool vectors, char uplo, int n, double* a, double* values) {
  applyBlasThreads();
  const char job = vectors ? 'V' : 'N';
  const int lda = leading(n);
  int info = 0, integers = 0, length = -1, integerLength = -1;
  double size = 0;
  dsyevd_(&job, &uplo, &n, a, &lda, values, &size, &length, &integers, &integerLength, &info, 1, 1);
  length = std::max(1, int(size));
  integerLength = std::max(1, integers);
  std::vector<double> work(count(length));
  std::vector<int> integerWork(count(integerLength));
  dsyevd_(&job, &uplo, &n, a, &lda, values, work.data(), &length, integerWork.data(), &integerLength, &info, 1, 1);
  return info;
}

template <>
int eigenSymmetric(bool vectors, char uplo, int n, Complex* a, double* values) {
  applyBlasThreads();
  const char job = vectors ? 'V' : 'N';
  const int lda = leading(n);
  int info = 0, integers = 0, length = -1, realLength = -1, integerLength = -1;
  Complex size = 0;
  double realSize = 0;
  zheevd_(&job, &uplo, &n, a, &lda, values, &size, &length, &realSize, &realLength, &integers, &integerLength, &info, 1,
          1);
  length = std::max(1, int(size.real()));
  realLength = std::max(1, int(realSize));
  integerLength = std::max(1, integers);
  std::vector<Complex> work(count(length));
  std::vector<double> realWork(count(realLength));
  std::vector<int> integerWork(count(integerLength));
  zheevd_(&job, &uplo, &n, a, &lda, values, work.data(), &length, realWork.data(), &realLength, integerWork.data(),
          &integerLength, &info, 1, 1);
  return info;
}

template <>
int eigenGeneral(int n, double* a, Complex* values, Complex* vectors) {
  applyBlasThreads();
  const char left = 'N', right = vectors ? 'V' : 'N';
  const int lda = leading(n), one = 1;
  std::vector<double> re(count(n)), im(count(n)), packed(vectors ? count(std::int64_t{n} * n) : 1);
  int info = 0;
  withWork<double>([&](double* work, const int* length) {
    dgeev_(&left, &right, &n, a, &lda, re.data(), im.data(), nullptr, &one, packed.data(), &lda, work, length, &info, 1,
           1);
  });
  for (int i = 0; i < n; ++i) values[i] = {re[std::size_t(i)], im[std::size_t(i)]};
  if (vectors) unpackPairs(n, im.data(), packed.data(), vectors);
  return info;
}

template <>
int eigenGeneral(int n, Complex* a, Complex* values, Complex* vectors) {
  applyBlasThreads();
  const char left = 'N', right = vectors ? 'V' : 'N';
  const int lda = leading(n), one = 1;
  std::vector<double> realWork(count(std::int64_t{2} * n));
  Complex unused;
  int info = 0;
  withWork<Complex>([&](Complex* work, const int* length) {
    zgeev_(&left, &right, &n, a, &lda, values, nullptr, &one, vectors ? vectors : &unused, &lda, work, length,
           realWork.data(), &info, 1, 1);
  });
  return info;
}

template <class T>
int singularValues(char job, int m, int n, T* a, double* values, T* u, T* vh) {
  applyBlasThreads();
  const std::int64_t small = std::min(m, n), large = std::max(m, n);
  const int lda = leading(m), ldu = leading(m), ldv = leading(job == 'A' ? n : int(small));
  std::vector<int> integers(count(8 * small));
  std::vector<double> reals(
      isReal<T> ? 1 : count(small * std::max<std::int64_t>(5 * small + 7, 2 * large + 2 * small + 1)));
  int info = 0;
  withWork<T>([&](T* work, const int* length) {
    if constexpr (isReal<T>)
      dgesdd_(&job, &m, &n, a, &lda, values, u, &ldu, vh, &ldv, work, length, integers.data(), &info, 1);
    else
      zgesdd_(&job, &m, &n, a, &lda, values, u, &ldu, vh, &ldv, work, length, reals.data(), integers.data(), &info, 1);
  });
  return info;
}

namespace {

/// Calls routine(work, length, reals, integers) for its workspace sizes first.
template <class T, class Routine>
void withThreeWorks(std::int64_t realCount, Routine&& routine) {
  T size{};
  double realSize = 0;
  int length = -1, integerSize = 0;
  routine(&size, &length, &realSize, &integerSize);
  length = std::max(1, int(std::real(size)));
  std::vector<T> work(count(length));
  std::vector<double> reals(count(std::max<std::int64_t>(realCount, std::int64_t(realSize))));
  std::vector<int> integers(count(integerSize));
  routine(work.data(), &length, reals.data(), integers.data());
}

}  // namespace

template <class T>
int leastSquares(LeastSquares driver, int m, int n, int rhs, T* a, T* b, double rcond, int& rank, double* values) {
  applyBlasThreads();
  const int lda = leading(m), ldb = leading(std::max(m, n));
  const char plain = 'N';
  std::vector<int> pivots(count(n), 0);
  int info = 0;
  withThreeWorks<T>(5 * std::max<std::int64_t>(m, n), [&](T* work, const int* length, double* reals, int* integers) {
    if (driver == LeastSquares::Qr) {
      if constexpr (isReal<T>)
        dgels_(&plain, &m, &n, &rhs, a, &lda, b, &ldb, work, length, &info, 1);
      else
        zgels_(&plain, &m, &n, &rhs, a, &lda, b, &ldb, work, length, &info, 1);
    } else if (driver == LeastSquares::QrPivoted) {
      if constexpr (isReal<T>)
        dgelsy_(&m, &n, &rhs, a, &lda, b, &ldb, pivots.data(), &rcond, &rank, work, length, &info);
      else
        zgelsy_(&m, &n, &rhs, a, &lda, b, &ldb, pivots.data(), &rcond, &rank, work, length, reals, &info);
    } else if (driver == LeastSquares::Svd) {
      if constexpr (isReal<T>)
        dgelss_(&m, &n, &rhs, a, &lda, b, &ldb, values, &rcond, &rank, work, length, &info);
      else
        zgelss_(&m, &n, &rhs, a, &lda, b, &ldb, values, &rcond, &rank, work, length, reals, &info);
    } else {
      if constexpr (isReal<T>)
        dgelsd_(&m, &n, &rhs, a, &lda, b, &ldb, values, &rcond, &rank, work, length, integers, &info);
      else
        zgelsd_(&m, &n, &rhs, a, &lda, b, &ldb, values, &rcond, &rank, work, length, reals, integers, &info);
    }
  });
  return info;
}

template int singularValues(char, int, int, double*, double*, double*, double*);
template int singularValues(char, int, int, Complex*, double*, Complex*, Complex*);
template int leastSquares(LeastSquares, int, int, int, double*, double*, double, int&, double*);
template int leastSquares(LeastSquares, int, int, int, Complex*, Complex*, double, int&, double*);

}  // namespace kerf::inline mathlib::lapack
