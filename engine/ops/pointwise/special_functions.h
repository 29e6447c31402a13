// Special functions in double that C++ lacks or has only for some arguments.
#pragma once

#include <cmath>
#include <limits>

namespace kerf::inline ops::special {

double digamma(double x);
/// n-th derivative of digamma, n >= 1; x > 0 or n even/odd reflection not needed: series for any non-pole x.
double polygamma(int n, double x);
/// As PyTorch computes it for float32 and smaller: near the poles its single-precision steps show.
double polygammaSingle(int n, double x);
double erfInverse(double y);
/// exp(x²)·erfc(x).
double erfcx(double x);
double besselI0(double x);
double besselI0e(double x);
double besselI1(double x);
double besselI1e(double x);
/// Hurwitz zeta.
double zeta(double x, double q);
/// In float throughout, which shows where terms overflow.
float zeta(float x, float q);
/// A Bessel function that grows as exp(|x|) does, which PyTorch multiplies in the type of x.
template <class T>
T growing(double value, T x, bool odd = false) {
  if (std::isinf(x)) return std::numeric_limits<T>::quiet_NaN();  // infinity over infinity
  if (!std::isinf(std::exp(std::abs(x)))) return T(value);
  return odd && x < 0 ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
}
/// Regularised lower and upper incomplete gamma functions.
double gammaP(double a, double x);
double gammaQ(double a, double x);
/// Inverse of the standard normal distribution function.
double normalInverse(double p);
double logNormalCdf(double x);

}  // namespace kerf::inline ops::special
