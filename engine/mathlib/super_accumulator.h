// SuperAccumulator: a sum of doubles, or of products of two doubles, without any rounding: a fixed-point number wide
// enough for all of them. It is rounded once, when it is read.
#pragma once

#include <array>
#include <cstdint>

namespace kerf::inline mathlib {

/// Significant bits and the exponent of the smallest subnormal of a binary floating-point format.
struct FloatFormat {
  int bits = 53;
  int lowest = -1074;
};

/// Digits of 32 bits in 64-bit words, so that 2^30 additions need no carries (Neal, "Fast exact summation using small
/// and large superaccumulators", 2015). One unit is 2^-2148, the smallest product of two subnormals.
class SuperAccumulator {
 public:
  void add(double x);
  void add(const double* x, std::int64_t count);
  /// Adds x * y exactly.
  void addProduct(double x, double y);

  /// The sum divided by `divisor` (> 0), rounded once to nearest even in `format`. Infinities and NaN as additions in
  /// any order give them; an empty sum is 0.
  double value(FloatFormat format = {}, std::int64_t divisor = 1) const;

 private:
  static constexpr int unitExponent = -2148;
  static constexpr std::size_t digitCount = 136;  // 2^-2148 … 2^2048, 64 bits to spare for carries
  using Digits = std::array<std::int64_t, digitCount>;

  void addBits(unsigned __int128 mantissa, int exponent, bool negative);
  static void carry(Digits& digits);

  Digits m_digits{};
  std::int64_t m_additions = 0;  ///< since the last carry
  double m_special = 0;          ///< sum of infinities and NaNs
};

}  // namespace kerf::inline mathlib
