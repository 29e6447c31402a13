// convertFlat: convertElement without branches where 16-bit floats are concerned, so that compilers turn loops over it
// into vector code.
#pragma once

#include <bit>

#include "engine/tensor/convert.h"

namespace kerf::inline tensor {

/// Same results as convertElement (16-bit floats round to nearest even; their NaNs become the one quiet NaN).
template <class To, class From>
__attribute__((always_inline)) inline To convertFlat(From value) {
  if constexpr (std::is_same_v<From, BFloat16>) {
    return convertFlat<To>(std::bit_cast<float>(std::uint32_t(value.bits) << 16));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    const auto bits = std::bit_cast<std::uint32_t>(float(value));
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    BFloat16 result;
    result.bits = std::uint16_t(nan ? 0x7fc0u : rounded);
    return result;
  } else if constexpr (std::is_same_v<From, Half>) {
    const std::uint32_t sign = std::uint32_t(value.bits & 0x8000u) << 16;
    const std::uint32_t magnitude = value.bits & 0x7fffu;
    const std::uint32_t large = sign | 0x7f800000u | (magnitude << 13);
    const std::uint32_t normal = sign | ((magnitude << 13) + 0x38000000u);
    const std::uint32_t small = sign | std::bit_cast<std::uint32_t>(float(std::int32_t(magnitude)) * 0x1p-24f);
    const std::uint32_t bits = magnitude >= 0x7c00u ? large : magnitude >= 0x0400u ? normal : small;
    return convertFlat<To>(std::bit_cast<float>(bits));
  } else if constexpr (std::is_same_v<To, Half>) {
    const auto bits = std::bit_cast<std::uint32_t>(float(value));
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const std::uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
    const std::uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    const std::uint32_t result = magnitude >= 0x477ff000u ? special : magnitude < 0x38800000u ? small : normal;
    Half half;
    half.bits = std::uint16_t(sign | result);
    return half;
  } else {
    return convertElement<To>(value);
  }
}

}  // namespace kerf::inline tensor
