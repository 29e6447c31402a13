// dispatch*: turns a DType known at run time into a C++ type known at compile time, one lambda for all of them.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "engine/support/result.h"
#include "engine/tensor/dtype.h"

namespace kerf::inline tensor {

/// Type in which arithmetic on T happens: float for Half and BFloat16, else T itself.
template <class T>
struct OpMathOf {
  using type = T;
};
template <>
struct OpMathOf<Half> {
  using type = float;
};
template <>
struct OpMathOf<BFloat16> {
  using type = float;
};
template <class T>
using OpMath = typename OpMathOf<T>::type;

template <class T>
inline constexpr bool isReducedFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
/// float, double, Half, BFloat16.
template <class T>
inline constexpr bool isFloatType = std::is_floating_point_v<T> || isReducedFloat<T>;
template <class T>
inline constexpr bool isComplexType = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// DType of a C++ element type.
template <class T>
constexpr DType dtypeOf() {
  if constexpr (std::is_same_v<T, double>)
    return DType::Float64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::Float32;
  else if constexpr (std::is_same_v<T, Half>)
    return DType::Float16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::BFloat16;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return DType::Complex64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return DType::Complex128;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return DType::Int64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return DType::Int32;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return DType::Int16;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return DType::Int8;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return DType::UInt64;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return DType::UInt32;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return DType::UInt16;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return DType::UInt8;
  else {
    static_assert(std::is_same_v<T, bool>, "no dtype for this type");
    return DType::Bool;
  }
}

template <class... Types>
struct TypeList {};

using FloatTypes = TypeList<double, float, Half, BFloat16>;
using IntegerTypes = TypeList<std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint64_t, std::uint32_t,
                              std::uint16_t, std::uint8_t>;
using BoolTypes = TypeList<bool>;
using ComplexTypes = TypeList<std::complex<float>, std::complex<double>>;

namespace detail {

/// Calls body with the one T of the list whose dtype matches; whether there was one.
template <class Body, class... Types>
bool dispatchOne(DType dtype, Body& body, TypeList<Types...>) {
  return ((dtypeOf<Types>() == dtype ? (body.template operator()<Types>(), true) : false) || ...);
}

template <class Body, class... Lists>
Result<void> dispatchLists(DType dtype, Body& body, Lists... lists) {
  if ((dispatchOne(dtype, body, lists) || ...)) return {};
  return fail(ErrorCode::UnsupportedOp, "{} is not supported here", dtypeInfo(dtype).torchName);
}

}  // namespace detail

/// `KERF_CHECK(dispatchAll(t.dtype(), [&]<class T>() { … t.data<T>() … }));` over floats, integers and bool.
/// UnsupportedOp for complex and 8-bit floats. The body returns nothing; record failures in a captured variable.
template <class Body>
Result<void> dispatchAll(DType dtype, Body&& body) {
  return detail::dispatchLists(dtype, body, FloatTypes{}, IntegerTypes{}, BoolTypes{});
}
/// Floats only: double, float, Half, BFloat16.
template <class Body>
Result<void> dispatchFloating(DType dtype, Body&& body) {
  return detail::dispatchLists(dtype, body, FloatTypes{});
}
/// Integers without bool.
template <class Body>
Result<void> dispatchInteger(DType dtype, Body&& body) {
  return detail::dispatchLists(dtype, body, IntegerTypes{});
}
/// Integers and bool.
template <class Body>
Result<void> dispatchIntegral(DType dtype, Body&& body) {
  return detail::dispatchLists(dtype, body, IntegerTypes{}, BoolTypes{});
}
/// Everything of dispatchAll, complex64 and complex128.
template <class Body>
Result<void> dispatchAllAndComplex(DType dtype, Body&& body) {
  return detail::dispatchLists(dtype, body, FloatTypes{}, IntegerTypes{}, BoolTypes{}, ComplexTypes{});
}

/// Over the given TypeLists only: `dispatchOver(dtype, body, TypeList<float, double>{}, ComplexTypes{})`.
template <class Body, class... Lists>
Result<void> dispatchOver(DType dtype, Body&& body, Lists... lists) {
  return detail::dispatchLists(dtype, body, lists...);
}

/// Unsigned integer types by item size (1, 2, 4, 8): for code that only moves elements.
template <class Body>
Result<void> dispatchBits(std::int64_t itemBytes, Body&& body) {
  switch (itemBytes) {
    case 1:
      body.template operator()<std::uint8_t>();
      return {};
    case 2:
      body.template operator()<std::uint16_t>();
      return {};
    case 4:
      body.template operator()<std::uint32_t>();
      return {};
    case 8:
      body.template operator()<std::uint64_t>();
      return {};
    case 16:
      body.template operator()<std::complex<double>>();
      return {};
    default:
      return fail(ErrorCode::Internal, "no element is {} bytes wide", itemBytes);
  }
}

}  // namespace kerf::inline tensor
