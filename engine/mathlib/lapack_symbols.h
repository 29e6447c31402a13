// lapack_symbols: the Fortran routines of LAPACK that OpenBLAS exports, and how their workspaces are asked for. Private
// to mathlib.
#pragma once

#include <algorithm>
#include <complex>
#include <type_traits>
#include <vector>

// The Fortran symbols that OpenBLAS exports. Character arguments have hidden lengths at the end.
extern "C" {
using KerfZ = std::complex<double>;
using KerfLength = std::size_t;
void dpotrf_(const char*, const int*, double*, const int*, int*, KerfLength);
void zpotrf_(const char*, const int*, KerfZ*, const int*, int*, KerfLength);
void dpotri_(const char*, const int*, double*, const int*, int*, KerfLength);
void zpotri_(const char*, const int*, KerfZ*, const int*, int*, KerfLength);
void dpotrs_(const char*, const int*, const int*, const double*, const int*, double*, const int*, int*, KerfLength);
void zpotrs_(const char*, const int*, const int*, const KerfZ*, const int*, KerfZ*, const int*, int*, KerfLength);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void zgetrf_(const int*, const int*, KerfZ*, const int*, int*, int*);
void dgetrs_(const char*, const int*, const int*, const double*, const int*, const int*, double*, const int*, int*,
             KerfLength);
void zgetrs_(const char*, const int*, const int*, const KerfZ*, const int*, const int*, KerfZ*, const int*, int*,
             KerfLength);
void dgetri_(const int*, double*, const int*, const int*, double*, const int*, int*);
void zgetri_(const int*, KerfZ*, const int*, const int*, KerfZ*, const int*, int*);
void dsytrf_(const char*, const int*, double*, const int*, int*, double*, const int*, int*, KerfLength);
void zsytrf_(const char*, const int*, KerfZ*, const int*, int*, KerfZ*, const int*, int*, KerfLength);
void zhetrf_(const char*, const int*, KerfZ*, const int*, int*, KerfZ*, const int*, int*, KerfLength);
void dsytrs_(const char*, const int*, const int*, const double*, const int*, const int*, double*, const int*, int*,
             KerfLength);
void zsytrs_(const char*, const int*, const int*, const KerfZ*, const int*, const int*, KerfZ*, const int*, int*,
             KerfLength);
void zhetrs_(const char*, const int*, const int*, const KerfZ*, const int*, const int*, KerfZ*, const int*, int*,
             KerfLength);
void dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void zgeqrf_(const int*, const int*, KerfZ*, const int*, KerfZ*, KerfZ*, const int*, int*);
void dorgqr_(const int*, const int*, const int*, double*, const int*, const double*, double*, const int*, int*);
void zungqr_(const int*, const int*, const int*, KerfZ*, const int*, const KerfZ*, KerfZ*, const int*, int*);
void dormqr_(const char*, const char*, const int*, const int*, const int*, const double*, const int*, const double*,
             double*, const int*, double*, const int*, int*, KerfLength, KerfLength);
void zunmqr_(const char*, const char*, const int*, const int*, const int*, const KerfZ*, const int*, const KerfZ*,
             KerfZ*, const int*, KerfZ*, const int*, int*, KerfLength, KerfLength);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, const int*,
             int*, KerfLength, KerfLength);
void zheevd_(const char*, const char*, const int*, KerfZ*, const int*, double*, KerfZ*, const int*, double*, const int*,
             int*, const int*, int*, KerfLength, KerfLength);
void dgeev_(const char*, const char*, const int*, double*, const int*, double*, double*, double*, const int*, double*,
            const int*, double*, const int*, int*, KerfLength, KerfLength);
void zgeev_(const char*, const char*, const int*, KerfZ*, const int*, KerfZ*, KerfZ*, const int*, KerfZ*, const int*,
            KerfZ*, const int*, double*, int*, KerfLength, KerfLength);
void dgesdd_(const char*, const int*, const int*, double*, const int*, double*, double*, const int*, double*,
             const int*, double*, const int*, int*, int*, KerfLength);
void zgesdd_(const char*, const int*, const int*, KerfZ*, const int*, double*, KerfZ*, const int*, KerfZ*, const int*,
             KerfZ*, const int*, double*, int*, int*, KerfLength);
void dgels_(const char*, const int*, const int*, const int*, double*, const int*, double*, const int*, double*,
            const int*, int*, KerfLength);
void zgels_(const char*, const int*, const int*, const int*, KerfZ*, const int*, KerfZ*, const int*, KerfZ*, const int*,
            int*, KerfLength);
void dgelsy_(const int*, const int*, const int*, double*, const int*, double*, const int*, int*, const double*, int*,
             double*, const int*, int*);
void zgelsy_(const int*, const int*, const int*, KerfZ*, const int*, KerfZ*, const int*, int*, const double*, int*,
             KerfZ*, const int*, double*, int*);
void dgelss_(const int*, const int*, const int*, double*, const int*, double*, const int*, double*, const double*, int*,
             double*, const int*, int*);
void zgelss_(const int*, const int*, const int*, KerfZ*, const int*, KerfZ*, const int*, double*, const double*, int*,
             KerfZ*, const int*, double*, int*);
void dgelsd_(const int*, const int*, const int*, double*, const int*, double*, const int*, double*, const double*, int*,
             double*, const int*, int*, int*);
void zgelsd_(const int*, const int*, const int*, KerfZ*, const int*, KerfZ*, const int*, double*, const double*, int*,
             KerfZ*, const int*, double*, int*, int*);
}

namespace kerf::inline mathlib::lapack {

template <class T>
constexpr bool isReal = std::is_same_v<T, double>;

inline int leading(int rows) { return std::max(1, rows); }

/// Calls body(work, length) twice: to ask for the workspace's size, then with it.
template <class T, class Body>
void withWork(Body&& body) {
  T size{};
  int length = -1;
  body(&size, &length);
  length = std::max(1, int(std::real(size)));
  auto work = std::vector<T>(std::size_t(length));
  body(work.data(), &length);
}

}  // namespace kerf::inline mathlib::lapack
