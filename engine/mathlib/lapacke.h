// LAPACKE as mathlib calls it: the routine of an element type, column-major, NaNs let through. Private to mathlib.
#pragma once

#include <algorithm>
#include <complex>
#include <type_traits>

#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

#include "engine/mathlib/blas_turn.h"

namespace kerf::inline mathlib::lapack {

template <class T>
constexpr bool isReal = std::is_same_v<T, double>;

/// The real or the complex routine: `pick<T>(LAPACKE_dpotrf, LAPACKE_zpotrf)`.
template <class T, class Real, class Complex>
constexpr auto pick(Real real, Complex complex) {
  if constexpr (isReal<T>)
    return real;
  else
    return complex;
}

/// Leading dimension of a dense matrix.
inline int leading(int rows) { return std::max(1, rows); }

/// Calls a routine on column-major matrices; its info. By default LAPACKE refuses NaNs, which LAPACK itself (and
/// PyTorch) computes with.
template <class Routine, class... Args>
int call(Routine routine, Args... args) {
  static const bool nansPass = (LAPACKE_set_nancheck(0), true);
  static_cast<void>(nansPass);
  const BlasTurn turn;
  return routine(LAPACK_COL_MAJOR, args...);
}

}  // namespace kerf::inline mathlib::lapack
