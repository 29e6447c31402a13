// Element types as torch names them. One table row per dtype; everything about a dtype is read from the table.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace kerf::inline tensor {

enum class DType : std::uint8_t {
  Float64,
  Float32,
  Float16,
  BFloat16,
  Float8E4M3FN,
  Float8E5M2,
  Float8E4M3FNUZ,
  Float8E5M2FNUZ,
  Float8E8M0FNU,
  Complex32,
  Complex64,
  Complex128,
  Int64,
  Int32,
  Int16,
  Int8,
  UInt64,
  UInt32,
  UInt16,
  UInt8,
  Bool,
};
constexpr DType lastOf(DType) { return DType::Bool; }

enum class DTypeKind : std::uint8_t { Bool, Integer, Float, Complex };

struct DTypeInfo {
  DType dtype;
  std::string_view torchName;        ///< "torch.float32"
  std::string_view shortCode;        ///< print_readable's "f32"
  std::string_view safetensorsName;  ///< "F32"; empty where the format has none
  std::uint8_t itemSize;             ///< bytes per element
  DTypeKind kind;
};

const DTypeInfo& dtypeInfo(DType dtype);
inline std::int64_t itemSize(DType dtype) { return dtypeInfo(dtype).itemSize; }
inline bool isFloating(DType dtype) { return dtypeInfo(dtype).kind == DTypeKind::Float; }
inline bool isComplex(DType dtype) { return dtypeInfo(dtype).kind == DTypeKind::Complex; }
/// Integers and bool.
inline bool isIntegral(DType dtype) { return dtypeInfo(dtype).kind <= DTypeKind::Integer; }

/// Accepts "torch.float32", "float32" and aliases such as "torch.half", "torch.long".
std::optional<DType> dtypeFromTorchName(std::string_view name);
/// Accepts print_readable codes: "f32", "b8", "i64".
std::optional<DType> dtypeFromShortCode(std::string_view code);
std::optional<DType> dtypeFromSafetensorsName(std::string_view name);

/// IEEE binary16 and bfloat16 as storage types. Arithmetic happens in float; storing rounds to nearest even.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);
  operator float() const;  // NOLINT: reads like a float wherever it is used
};

struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  operator float() const;  // NOLINT: reads like a float wherever it is used
};

namespace detail {

/// binary16 bits of `value`, rounded to nearest even without hardware help; NaN becomes the quiet NaN 0x7e00.
inline std::uint16_t halfBitsPortable(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = std::uint16_t((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // 65520 and above round to infinity
  if (magnitude < 0x38800000u) {                        // below 2^-14: subnormal, let float addition do the rounding
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | std::uint16_t(std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u);
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return sign | std::uint16_t((magnitude - 0x38000000u + 0xfffu + odd) >> 13);
}

inline float halfToFloatPortable(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t(half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude << 13));
  if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float small = float(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(small));
}

inline std::uint16_t bfloat16Bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
  return std::uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace detail

#ifdef __F16C__
inline Half::Half(float value)
    : bits(std::isnan(value) ? detail::halfBitsPortable(value) : std::uint16_t(_cvtss_sh(value, 0))) {}
inline Half::operator float() const { return _cvtsh_ss(bits); }
#else
inline Half::Half(float value) : bits(detail::halfBitsPortable(value)) {}
inline Half::operator float() const { return detail::halfToFloatPortable(bits); }
#endif

inline BFloat16::BFloat16(float value) : bits(detail::bfloat16Bits(value)) {}
inline BFloat16::operator float() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }

}  // namespace kerf::inline tensor
