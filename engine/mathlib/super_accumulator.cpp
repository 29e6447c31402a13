#include "engine/mathlib/super_accumulator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace kerf::inline mathlib {
namespace {

constexpr int digitBits = 32;
constexpr std::int64_t digitMask = 0xffffffff;
constexpr std::int64_t mostAdditions = std::int64_t{1} << 30;

/// mantissa * 2^exponent of a finite number's size.
struct Parts {
  std::uint64_t mantissa;
  int exponent;
};
Parts partsOf(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int field = int(bits >> 52) & 0x7ff;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (field == 0) return {fraction, -1074};
  return {fraction | (std::uint64_t{1} << 52), field - 1075};
}

/// Bits of a number from its highest one down, read one by one with what lies below counted as "more".
struct Reading {
  std::uint64_t kept = 0;  ///< the bits kept so far
  bool half = false;       ///< the bit after them
  bool more = false;       ///< whether any later bit is set
};

}  // namespace

void SuperAccumulator::carry(Digits& digits) {
  std::int64_t rest = 0;
  for (std::size_t i = 0; i + 1 < digitCount; ++i) {
    const std::int64_t sum = digits[i] + rest;
    digits[i] = sum & digitMask;
    rest = sum >> digitBits;  // arithmetic shift: floor
  }
  digits[digitCount - 1] += rest;
}

void SuperAccumulator::addBits(unsigned __int128 mantissa, int exponent, bool negative) {
  if (++m_additions >= mostAdditions) {
    carry(m_digits);
    m_additions = 1;
  }
  const int position = exponent - unitExponent;
  auto at = std::size_t(position / digitBits);
  const int shift = position % digitBits;
  // The lowest digit takes what the shift leaves of it; after that the mantissa goes on by whole digits.
  std::int64_t digit = std::int64_t(std::uint64_t(mantissa) << shift) & digitMask;
  mantissa >>= digitBits - shift;
  for (;;) {
    m_digits[at++] += negative ? -digit : digit;
    if (mantissa == 0) return;
    digit = std::int64_t(mantissa) & digitMask;
    mantissa >>= digitBits;
  }
}

void SuperAccumulator::add(double x) {
  if (!std::isfinite(x)) {
    m_special += x;
    return;
  }
  const Parts parts = partsOf(x);
  if (parts.mantissa != 0) addBits(parts.mantissa, parts.exponent, std::signbit(x));
}

void SuperAccumulator::add(const double* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) add(x[i]);
}

void SuperAccumulator::addProduct(double x, double y) {
  if (!std::isfinite(x) || !std::isfinite(y)) {
    m_special += x * y;
    return;
  }
  const Parts a = partsOf(x), b = partsOf(y);
  if (a.mantissa == 0 || b.mantissa == 0) return;
  addBits(static_cast<unsigned __int128>(a.mantissa) * b.mantissa, a.exponent + b.exponent,
          std::signbit(x) != std::signbit(y));
}

double SuperAccumulator::value(FloatFormat format, std::int64_t divisor) const {
  if (m_special != 0) return m_special;
  Digits digits = m_digits;
  carry(digits);
  const bool negative = digits[digitCount - 1] < 0;
  if (negative) {
    for (std::int64_t& digit : digits) digit = -digit;
    carry(digits);
  }
  // Long division from the top; three more digits below the unit keep the quotient's bits, the remainder is "more".
  constexpr std::size_t extra = 3;
  std::array<std::uint32_t, digitCount + extra> quotient{};
  unsigned __int128 rest = 0;
  for (std::size_t i = digitCount + extra; i-- > 0;) {
    const std::int64_t digit = i >= extra ? digits[i - extra] : 0;
    rest = (rest << digitBits) + static_cast<unsigned __int128>(digit);
    quotient[i] = std::uint32_t(rest / std::uint64_t(divisor));
    rest %= std::uint64_t(divisor);
  }
  std::size_t top = quotient.size();
  while (top > 0 && quotient[top - 1] == 0) --top;
  if (top == 0) return rest == 0 ? 0.0 : std::copysign(0.0, negative ? -1.0 : 1.0);
  constexpr int base = unitExponent - int(extra) * digitBits;
  const int highest = int(top - 1) * digitBits + std::bit_width(quotient[top - 1]) - 1;
  const int last = std::max(highest - format.bits + 1, format.lowest - base);  // position of the lowest kept bit
  const auto bitAt = [&](int position) {
    return (quotient[std::size_t(position / digitBits)] >> (position % digitBits)) & 1u;
  };
  Reading reading{0, false, rest != 0};
  for (int position = highest; position >= last; --position) reading.kept = reading.kept * 2 + bitAt(position);
  if (last > 0 && last - 1 <= highest) reading.half = bitAt(last - 1) != 0;
  for (int position = std::min(last - 2, highest); position >= 0 && !reading.more; --position)
    reading.more = bitAt(position) != 0;
  if (reading.half && (reading.more || (reading.kept & 1) != 0)) ++reading.kept;
  const double size = std::ldexp(double(reading.kept), base + last);
  return negative ? -size : size;
}

}  // namespace kerf::inline mathlib
