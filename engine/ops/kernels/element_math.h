// Arithmetic on single elements that C++ does not give with torch's rules: wrapping integers, NaN-aware extrema, floor
// division.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kerf::inline ops::element {

template <class T>
inline constexpr bool isInt = std::is_integral_v<T>;

template <class T>
T add(T a, T b) {
  if constexpr (isInt<T>)
    return T(std::uint64_t(a) + std::uint64_t(b));
  else
    return a + b;
}
template <class T>
T sub(T a, T b) {
  if constexpr (isInt<T>)
    return T(std::uint64_t(a) - std::uint64_t(b));
  else
    return a - b;
}
template <class T>
T mul(T a, T b) {
  if constexpr (isInt<T>)
    return T(std::uint64_t(a) * std::uint64_t(b));
  else
    return a * b;
}
template <class T>
T neg(T a) {
  return sub(T(0), a);
}
template <>
inline float neg(float a) {
  return -a;
}
template <>
inline double neg(double a) {
  return -a;
}

template <class T>
bool isNan(T a) {
  if constexpr (isInt<T>)
    return false;
  else
    return std::isnan(a);
}
/// Order in which NaN is larger than everything else.
template <class T>
bool before(T a, T b) {
  return a < b || (isNan(b) && !isNan(a));
}
/// NaN if either is NaN.
template <class T>
T maximum(T a, T b) {
  return isNan(a) || a > b ? a : b;
}
template <class T>
T minimum(T a, T b) {
  return isNan(a) || a < b ? a : b;
}
/// 0 for NaN, as in torch.
template <class T>
T sign(T a) {
  return T((a > T(0)) - (a < T(0)));
}
/// The lowest integer is its own.
template <class T>
T magnitude(T a) {
  if constexpr (isInt<T>)
    return a < 0 ? neg(a) : a;
  else
    return std::abs(a);
}

/// Truncated quotient; an integer zero divisor gives 0 (callers have refused it before), the lowest value over -1
/// wraps.
template <class T>
T truncDivide(T a, T b) {
  if constexpr (isInt<T>) {
    if (b == 0) return 0;
    return std::is_signed_v<T> && b == T(-1) ? neg(a) : a / b;
  } else {
    return std::trunc(a / b);
  }
}

/// C's remainder, with the sign of the dividend.
template <class T>
T truncRemainder(T a, T b) {
  if constexpr (isInt<T>)
    return b == 0 || (std::is_signed_v<T> && b == T(-1)) ? 0 : a % b;
  else
    return std::fmod(a, b);
}

/// Python's %: the sign of the divisor.
template <class T>
T floorRemainder(T a, T b) {
  T rest = truncRemainder(a, b);
  if (rest != 0 && ((b < 0) != (rest < 0))) rest += b;
  return rest;
}

/// Python's //; for floats the correctly rounded floor of the exact quotient, as torch's div_floor.
template <class T>
T floorDivide(T a, T b) {
  if constexpr (isInt<T>) {
    const T quotient = truncDivide(a, b);
    return truncRemainder(a, b) != 0 && ((a < 0) != (b < 0)) ? quotient - 1 : quotient;
  } else {
    if (b == 0) return a / b;
    const T rest = std::fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && ((b < 0) != (rest < 0))) quotient -= T(1);
    if (quotient == 0) return std::copysign(T(0), a / b);
    const T floored = std::floor(quotient);
    return quotient - floored > T(0.5) ? floored + T(1) : floored;
  }
}

/// Integer powers wrap; a negative exponent gives 0 except for the bases 1 and -1.
template <class T>
T power(T base, T exponent) {
  if constexpr (isInt<T>) {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
    T result = 1;
    for (; exponent > 0; exponent >>= 1, base = mul(base, base))
      if (exponent & 1) result = mul(result, base);
    return result;
  } else {
    return std::pow(base, exponent);
  }
}

/// For floats f(a), for integers a itself (rounding functions).
template <class T, class F>
T ifFloat(T a, F f) {
  if constexpr (isInt<T>)
    return a;
  else
    return f(a);
}

template <class T>
T sigmoid(T a) {
  return T(1) / (T(1) + std::exp(-a));
}

}  // namespace kerf::inline ops::element
