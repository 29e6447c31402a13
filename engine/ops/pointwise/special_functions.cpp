#include "engine/ops/pointwise/special_functions.h"

#include <cmath>
#include <limits>

namespace kerf::inline ops::special {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

/// Power series of I_order(x): sum of (x/2)^(2k+order) / (k! (k+order)!).
double besselSeries(int order, double x) {
  const double half = x / 2;
  double term = order == 0 ? 1.0 : half;
  double sum = term;
  for (int k = 1; k < 500 && std::abs(term) > 1e-17 * std::abs(sum); ++k) {
    term *= half * half / (double(k) * double(k + order));
    sum += term;
  }
  return sum;
}

/// Asymptotic series of exp(-x) I_order(x) for large x (Abramowitz & Stegun 9.7.1).
double besselAsymptotic(int order, double x) {
  const double mu = 4.0 * order * order;
  double term = 1;
  double sum = 1;
  for (int k = 1; k < 60; ++k) {
    const double odd = 2 * k - 1;
    const double next = -term * (mu - odd * odd) / (8.0 * k * x);
    if (std::abs(next) >= std::abs(term) || std::abs(next) < 1e-17) break;
    sum += next;
    term = next;
  }
  return sum / std::sqrt(2 * M_PI * x);
}

constexpr double besselSwitch = 40;

double scaledBessel(int order, double x) {
  const double size = std::abs(x);
  const double value =
      size > besselSwitch ? besselAsymptotic(order, size) : std::exp(-size) * besselSeries(order, size);
  return order == 1 && x < 0 ? -value : value;
}

double bessel(int order, double x) {
  const double size = std::abs(x);
  const double value = size > besselSwitch ? std::exp(size) * besselAsymptotic(order, size) : besselSeries(order, size);
  return order == 1 && x < 0 ? -value : value;
}

/// Continued fraction of the upper incomplete gamma function (modified Lentz).
double gammaFraction(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1 - a;
  double c = 1 / tiny;
  double d = 1 / b;
  double h = d;
  for (int i = 1; i < 10000; ++i) {
    const double an = -double(i) * (double(i) - a);
    b += 2;
    d = an * d + b;
    if (std::abs(d) < tiny) d = tiny;
    c = b + an / c;
    if (std::abs(c) < tiny) c = tiny;
    d = 1 / d;
    const double delta = d * c;
    h *= delta;
    if (std::abs(delta - 1) < 1e-16) break;
  }
  return std::exp(-x + a * std::log(x) - std::lgamma(a)) * h;
}

double gammaSeries(double a, double x) {
  double term = 1 / a;
  double sum = term;
  for (int i = 1; i < 10000 && std::abs(term) > 1e-17 * std::abs(sum); ++i) {
    term *= x / (a + i);
    sum += term;
  }
  return sum * std::exp(-x + a * std::log(x) - std::lgamma(a));
}

}  // namespace

double digamma(double x) {
  if (x == 0) return std::copysign(infinity, -x);
  if (x < 0) {
    if (x == std::floor(x)) return notANumber;
    double whole = 0;
    const double fraction = std::modf(x, &whole);
    return digamma(1 - x) - M_PI / std::tan(M_PI * fraction);
  }
  double result = 0;
  for (; x < 10; ++x) result -= 1 / x;
  if (std::isinf(x)) return x;
  const double inverse = 1 / (x * x);
  static constexpr double coefficients[] = {-1.0 / 12,  1.0 / 120,     -1.0 / 252, 1.0 / 240,
                                            -1.0 / 132, 691.0 / 32760, -1.0 / 12};
  double power = 1;
  double series = 0;
  for (double coefficient : coefficients) series += coefficient * (power *= inverse);
  return result + std::log(x) - 0.5 / x + series;
}

double zeta(double x, double q) {
  if (x == 1) return infinity;
  if (x < 1) return notANumber;
  if (q <= 0) {
    if (q == std::floor(q)) return infinity;
    if (x != std::floor(x)) return notANumber;
  }
  if (q == infinity) return notANumber;  // as Cephes' series ends, 0 times infinity
  // Euler-Maclaurin: a few terms, the integral, and Bernoulli corrections.
  double sum = 0;
  int taken = 0;
  for (; taken < 10 || q <= 9; ++taken, ++q) {
    const double term = std::pow(q, -x);
    sum += term;
    if (std::abs(term) < 1e-17 * std::abs(sum) || taken > 100000) return sum;
  }
  sum += std::pow(q, 1 - x) / (x - 1) + 0.5 * std::pow(q, -x);
  static constexpr double bernoulli[] = {
      1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0, 1.0 / 74724249600.0};
  double factor = x;
  double power = std::pow(q, -x - 1);
  for (int k = 0; k < 7; ++k) {
    const double term = bernoulli[k] * factor * power;
    sum += term;
    if (std::abs(term) < 1e-17 * std::abs(sum)) break;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2);
    power /= q * q;
  }
  return sum;
}

double polygamma(int n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1 && std::isinf(x)) return x > 0 ? 0 : notANumber;
  const double sign = n % 2 == 0 ? -1 : 1;
  return sign * std::tgamma(n + 1.0) * zeta(n + 1.0, x);
}

namespace {

/// Recurrence to x + 6, then the asymptotic series; reflection for x < 1/2 (PyTorch's trigamma, in float).
float trigammaSingle(float x) {
  float sign = 1, result = 0;
  constexpr float pi = float(M_PI);
  if (x < 0.5f) {
    sign = -1;
    const float sine = std::sin(pi * x);
    result -= (pi * pi) / (sine * sine);
    x = 1 - x;
  }
  for (int i = 0; i < 6; ++i, x += 1) result += 1 / (x * x);
  const float square = 1 / (x * x);
  result += (1 + 1 / (2 * x) + square * (1.f / 6 - square * (1.f / 30 - square * (1.f / 42)))) / x;
  return sign * result;
}

/// Cephes' zeta in float: direct terms until a > 9, then Euler-Maclaurin with Cephes' table.
float zetaSingle(float x, float q) {
  static constexpr float table[] = {12.0f,
                                    -720.0f,
                                    30240.0f,
                                    -1209600.0f,
                                    47900160.0f,
                                    -1.8924375803183791606e9f,
                                    7.47242496e10f,
                                    -2.950130727918164224e12f,
                                    1.1646782814350067249e14f,
                                    -4.5979787224074726105e15f,
                                    1.8152105401943546773e17f,
                                    -7.1661652561756670113e18f};
  constexpr float epsilon = 0x1p-24f;
  if (x == 1) return float(infinity);
  if (x < 1) return float(notANumber);
  if (q <= 0 && q == std::floor(q)) return float(infinity);
  if (q <= 0 && x != std::floor(x)) return float(notANumber);
  float sum = std::pow(q, -x), a = q, b = 0;
  for (int i = 0; i < 9 || a <= 9; ++i) {
    a += 1;
    b = std::pow(a, -x);
    sum += b;
    if ((-epsilon * sum < b && b < epsilon * sum) || i > 100000) return sum;
  }
  sum += b * a / (x - 1);
  sum -= 0.5f * b;
  float factor = 1, k = 0;
  for (float divisor : table) {
    factor *= x + k;
    b /= a;
    const float term = factor * b / divisor;
    sum += term;
    if (std::abs(term / sum) < epsilon) return sum;
    k += 1;
    factor *= x + k;
    b /= a;
    k += 1;
  }
  return sum;
}

}  // namespace

float zeta(float x, float q) { return zetaSingle(x, q); }

double polygammaSingle(int n, double x) {
  const auto single = float(x);
  if (n == 0) return digamma(x);
  if (n == 1) return trigammaSingle(single);
  const float sign = n % 2 == 0 ? -1 : 1;
  return sign * std::exp(std::lgamma(float(n) + 1)) * zetaSingle(float(n + 1), single);
}

double erfInverse(double y) {
  if (std::isnan(y) || std::abs(y) > 1) return notANumber;
  if (std::abs(y) == 1) return std::copysign(infinity, y);
  // Giles' starting value, then Newton steps on erf (erfc in the tails keeps digits).
  double w = -std::log((1 - y) * (1 + y));
  double x = 0;
  if (w < 5) {
    w -= 2.5;
    static constexpr double c[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                   -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
    for (double v : c) x = x * w + v;
  } else {
    w = std::sqrt(w) - 3;
    static constexpr double c[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                   -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
    for (double v : c) x = x * w + v;
  }
  x *= y;
  for (int i = 0; i < 3; ++i) {
    const double error = y > 0.5 ? (1 - y) - std::erfc(x) : y < -0.5 ? std::erfc(-x) - (1 + y) : std::erf(x) - y;
    const double step = error / (M_2_SQRTPI * std::exp(-x * x));
    x -= y > 0.5 ? step : step;
  }
  return x;
}

double erfcx(double x) {
  if (x < 25) return x < -26.7 ? infinity : std::exp(x * x) * std::erfc(x);
  double sum = 1;
  double term = 1;
  for (int k = 1; k < 20; ++k) {
    term *= -(2.0 * k - 1) / (2 * x * x);
    sum += term;
    if (std::abs(term) < 1e-17) break;
  }
  return sum / (x * std::sqrt(M_PI));
}

double besselI0(double x) { return bessel(0, x); }
double besselI0e(double x) { return scaledBessel(0, x); }
double besselI1(double x) { return bessel(1, x); }
double besselI1e(double x) { return scaledBessel(1, x); }

double gammaP(double a, double x) {
  if (a < 0 || x < 0) return notANumber;
  if (a == 0) return x > 0 ? 1 : notANumber;
  if (x == 0) return 0;  // whatever the other is, NaN too
  if (std::isinf(a)) return std::isinf(x) ? notANumber : 0;
  if (std::isinf(x)) return 1;
  if (std::isnan(a) || std::isnan(x)) return notANumber;
  return x < a + 1 ? gammaSeries(a, x) : 1 - gammaFraction(a, x);
}

double gammaQ(double a, double x) {
  if (a < 0 || x < 0) return notANumber;
  if (a == 0) return x > 0 ? 0 : notANumber;
  if (x == 0) return 1;  // whatever the other is, NaN too
  if (std::isinf(a)) return std::isinf(x) ? notANumber : 1;
  if (std::isinf(x)) return 0;
  if (std::isnan(a) || std::isnan(x)) return notANumber;
  return x < a + 1 ? 1 - gammaSeries(a, x) : gammaFraction(a, x);
}

double normalInverse(double p) {
  if (p < 0 || p > 1) return notANumber;
  if (!(p > 0 && p < 1e-3)) return M_SQRT2 * erfInverse(2 * p - 1);
  // 2p - 1 has no digits of a small p: the tail's first terms, then Newton steps on the distribution itself.
  const double w = std::sqrt(-2 * std::log(p));
  double x = -(w - (2 * std::log(w) + std::log(2 * M_PI)) / (2 * w));
  for (int i = 0; i < 6; ++i) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
    if (density == 0) break;
    x -= (0.5 * std::erfc(-x * M_SQRT1_2) - p) / density;
  }
  return x;
}

double logNormalCdf(double x) {
  const double t = x * M_SQRT1_2;
  if (x < -1) return std::log(erfcx(-t) / 2) - t * t;
  return std::log1p(-std::erfc(t) / 2);
}

}  // namespace kerf::inline ops::special
