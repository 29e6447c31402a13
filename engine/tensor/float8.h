// The 8-bit float formats: decode any byte, encode with round to nearest even. Storage only; no arithmetic.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kerf::inline tensor {

/// What tells the four sign-exponent-mantissa formats apart.
struct Float8Format {
  int mantissaBits;
  int bias;
  bool hasInfinity;   ///< e5m2 only
  bool unsignedZero;  ///< the fnuz formats: 0x80 is NaN, there is no -0
  bool saturates;     ///< largest finite code is all ones but the NaN pattern
};

namespace detail {

inline constexpr Float8Format e4m3fn{3, 7, false, false, true};
inline constexpr Float8Format e5m2{2, 15, true, false, false};
inline constexpr Float8Format e4m3fnuz{3, 8, false, true, true};
inline constexpr Float8Format e5m2fnuz{2, 16, false, true, true};

inline bool float8IsNan(std::uint8_t bits, const Float8Format& format) {
  if (format.unsignedZero) return bits == 0x80;
  return format.hasInfinity ? (bits & 0x7f) > 0x7c : (bits & 0x7f) == 0x7f;
}

inline float float8Decode(std::uint8_t bits, const Float8Format& format) {
  if (float8IsNan(bits, format)) return std::numeric_limits<float>::quiet_NaN();
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  if (format.hasInfinity && (bits & 0x7f) == 0x7c) return sign * std::numeric_limits<float>::infinity();
  const int exponent = (bits & 0x7f) >> format.mantissaBits;
  const int mantissa = bits & ((1 << format.mantissaBits) - 1);
  const int implicit = exponent == 0 ? 0 : 1 << format.mantissaBits;
  const int scale = (exponent == 0 ? 1 : exponent) - format.bias - format.mantissaBits;
  return sign * std::ldexp(float(implicit + mantissa), scale);
}

/// Values that round beyond the largest finite number become infinity (e5m2) or NaN (the others), as in torch.
inline std::uint8_t float8Encode(float value, const Float8Format& format) {
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const std::uint8_t nan = format.unsignedZero ? 0x80 : std::uint8_t(sign | 0x7f);
  if (std::isnan(value)) return nan;
  const std::uint8_t overflow = format.hasInfinity ? std::uint8_t(sign | 0x7c) : nan;
  if (std::isinf(value)) return overflow;
  if (value == 0) return format.unsignedZero ? 0 : sign;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int lowest = 2 - format.bias;  // frexp exponent of the smallest normal number
  const int scale = (exponent < lowest ? lowest : exponent) - 1 - format.mantissaBits;
  const auto steps = int(std::nearbyint(std::ldexp(std::fabs(value), -scale)));
  const int biased = scale + format.mantissaBits + format.bias;
  const int code = steps + ((biased - 1) << format.mantissaBits);
  const int limit = format.hasInfinity ? 0x7b : (format.unsignedZero ? 0x7f : 0x7e);
  if (code > limit) return overflow;
  return code == 0 && format.unsignedZero ? 0 : std::uint8_t(sign | code);
}

}  // namespace detail

/// One storage type per format.
template <const Float8Format& Format>
struct Float8 {
  std::uint8_t bits = 0;
  Float8() = default;
  explicit Float8(float value) : bits(detail::float8Encode(value, Format)) {}
  operator float() const { return detail::float8Decode(bits, Format); }  // NOLINT
};

using Float8E4M3FN = Float8<detail::e4m3fn>;
using Float8E5M2 = Float8<detail::e5m2>;
using Float8E4M3FNUZ = Float8<detail::e4m3fnuz>;
using Float8E5M2FNUZ = Float8<detail::e5m2fnuz>;

/// Powers of two only: eight exponent bits, no sign, 0xff is NaN.
struct Float8E8M0FNU {
  std::uint8_t bits = 0;
  Float8E8M0FNU() = default;
  explicit Float8E8M0FNU(float value) {
    const std::uint32_t pattern = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t exponent = (pattern >> 23) & 0xffu;
    const bool up = (pattern & 0x400000u) != 0 && ((pattern & 0x3fffffu) != 0 || exponent != 0);
    bits = std::uint8_t(exponent == 0xffu ? 0xffu : exponent + (up ? 1u : 0u));
  }
  operator float() const {  // NOLINT
    if (bits == 0xff) return std::numeric_limits<float>::quiet_NaN();
    return std::ldexp(1.0f, int(bits) - 127);
  }
};

}  // namespace kerf::inline tensor
