// lapack: dense factorizations and solvers over column-major matrices of double or complex double, one matrix per call.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline mathlib::lapack {

using Complex = std::complex<double>;

// T is double or Complex. Matrices are column-major and dense (leading dimension = rows). `uplo` is 'L' or 'U', `trans`
// 'N', 'T' or 'C', `side` 'L' or 'R'. The int results are LAPACK's info: 0 is success, k > 0 names the first pivot,
// minor or eigenvalue that failed (from 1). Sizes beyond 2^31 are refused by the callers (see fitsInt).

/// Whether LAPACK's 32-bit integers hold these sizes and their product fits in memory addressing.
bool fitsInt(std::int64_t rows, std::int64_t columns);

/// Cholesky factor of the `uplo` triangle, in place; the other triangle is left alone.
template <class T>
int choleskyFactor(char uplo, int n, T* a);
/// Inverse from a Cholesky factor, in the `uplo` triangle.
template <class T>
int choleskyInvert(char uplo, int n, T* a);
/// Solves A x = b from a Cholesky factor; b is [n, rhs].
template <class T>
int choleskySolve(char uplo, int n, int rhs, const T* a, T* b);

/// P L U with partial pivoting in place; pivots are row numbers from 1, min(m, n) of them.
template <class T>
int luFactor(int m, int n, T* a, int* pivots);
template <class T>
int luSolve(char trans, int n, int rhs, const T* lu, const int* pivots, T* b);
template <class T>
int luInvert(int n, T* lu, const int* pivots);

/// Bunch-Kaufman L D L^T (or L D L^H) with LAPACK's pivot encoding.
template <class T>
int ldlFactor(bool hermitian, char uplo, int n, T* a, int* pivots);
template <class T>
int ldlSolve(bool hermitian, char uplo, int n, int rhs, const T* a, const int* pivots, T* b);

/// Householder QR: R above the diagonal, reflectors below, tau [min(m, n)].
template <class T>
int qrFactor(int m, int n, T* a, T* tau);
/// First n columns of the product of k reflectors; a is [m, n] holding them.
template <class T>
int qrForm(int m, int n, int k, T* a, const T* tau);
/// c [m, n] = Q c, Q^T c, Q^H c or c Q…, for k reflectors in a (rows = m for side 'L', n for 'R').
template <class T>
int qrApply(char side, char trans, int m, int n, int k, const T* a, const T* tau, T* c);

/// Eigenvalues (ascending) of a symmetric or Hermitian matrix; vectors replace `a` when wanted.
template <class T>
int eigenSymmetric(bool vectors, char uplo, int n, T* a, double* values);
/// Eigenvalues and right eigenvectors (columns of [n, n], null when not wanted) of a general matrix; destroys `a`.
template <class T>
int eigenGeneral(int n, T* a, Complex* values, Complex* vectors);
/// Singular values, and with `job` 'A' (full) or 'S' (reduced) the left and right vectors; 'N' gives values only.
template <class T>
int singularValues(char job, int m, int n, T* a, double* values, T* u, T* vh);

enum class LeastSquares : std::uint8_t { Qr, QrPivoted, Svd, SvdDivided };  ///< gels, gelsy, gelss, gelsd
/// Minimizes |a x - b|; b is [max(m, n), rhs] and holds x in its first n rows afterwards.
template <class T>
int leastSquares(LeastSquares driver, int m, int n, int rhs, T* a, T* b, double rcond, int& rank, double* values);

/// b [m, n] = op(A)^-1 b or b op(A)^-1 for a triangular A.
template <class T>
void triangularSolve(char side, char uplo, char trans, bool unit, int m, int n, const T* a, T* b);

}  // namespace kerf::inline mathlib::lapack
