// convertElement: one element from one C++ element type to another, by torch's rules and without undefined behaviour.
#pragma once

#include <cmath>
#include <limits>

#include "engine/tensor/dispatch.h"
#include "engine/tensor/float8.h"

namespace kerf::inline tensor {
namespace detail {

/// Truncation of a float to an integer as x86 does it: out of range and NaN give the type's lowest value.
template <class Int, class Float>
Int truncateTo(Float value) {
  constexpr auto lowest = static_cast<Float>(std::numeric_limits<Int>::min());
  if (value >= lowest && value < -lowest) return static_cast<Int>(value);
  return std::numeric_limits<Int>::min();
}

template <class To, class Float>
To floatToInteger(Float value) {
  if constexpr (std::is_same_v<To, std::uint64_t>) {
    constexpr Float half = static_cast<Float>(0x1p63);
    if (value >= half && value < 2 * half) return static_cast<To>(value);
    return static_cast<To>(truncateTo<std::int64_t>(value));
  } else if constexpr (std::is_same_v<To, std::int32_t> || std::is_same_v<To, std::int16_t> ||
                       std::is_same_v<To, std::int8_t>) {
    return static_cast<To>(truncateTo<std::int32_t>(value));
  } else {
    return static_cast<To>(truncateTo<std::int64_t>(value));
  }
}

template <class T>
inline constexpr bool isFloat8 =
    std::is_same_v<T, Float8E4M3FN> || std::is_same_v<T, Float8E5M2> || std::is_same_v<T, Float8E4M3FNUZ> ||
    std::is_same_v<T, Float8E5M2FNUZ> || std::is_same_v<T, Float8E8M0FNU>;

}  // namespace detail

/// Floats round to nearest even, float to integer truncates, integers wrap, bool is `!= 0`, complex to real drops the
/// imaginary part.
template <class To, class From>
To convertElement(From value) {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else if constexpr (isComplexType<To>) {
    using Part = typename To::value_type;
    if constexpr (isComplexType<From>)
      return To(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
    else
      return To(convertElement<Part>(value), Part(0));
  } else if constexpr (isComplexType<From>) {
    if constexpr (std::is_same_v<To, bool>)
      return value != From(0);
    else
      return convertElement<To>(value.real());
  } else if constexpr (isReducedFloat<From> || detail::isFloat8<From>) {
    return convertElement<To>(float(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (isReducedFloat<To> || detail::isFloat8<To>) {
    return To(float(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return detail::floatToInteger<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace kerf::inline tensor
