#include "engine/support/python_float.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace kerf::inline support {
namespace {

/// Decimal digits without dot, and the exponent of the first one, of the shortest text that reads back equal.
struct ShortestDecimal {
  std::string digits;
  int exponent = 0;
};

ShortestDecimal shortestDecimal(double value) {
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer.data(), std::size_t(end - buffer.data()));
  const std::size_t split = text.find('e');
  ShortestDecimal out;
  for (const char c : text.substr(0, split))
    if (c != '.') out.digits += c;
  const std::string exponent(text.substr(split + 1));
  out.exponent = std::stoi(exponent);
  return out;
}

std::string scientific(const ShortestDecimal& decimal) {
  std::string out = decimal.digits.substr(0, 1);
  if (decimal.digits.size() > 1) out += "." + decimal.digits.substr(1);
  return fmt::format("{}e{}{:02}", out, decimal.exponent < 0 ? '-' : '+', std::abs(decimal.exponent));
}

std::string positional(const ShortestDecimal& decimal) {
  const auto& digits = decimal.digits;
  if (decimal.exponent < 0) return "0." + std::string(std::size_t(-decimal.exponent - 1), '0') + digits;
  const auto whole = std::size_t(decimal.exponent) + 1;
  if (digits.size() <= whole) return digits + std::string(whole - digits.size(), '0') + ".0";
  return digits.substr(0, whole) + "." + digits.substr(whole);
}

}  // namespace

std::string pythonFloat(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const std::string sign = std::signbit(value) ? "-" : "";
  if (value == 0) return sign + "0.0";
  const ShortestDecimal decimal = shortestDecimal(std::abs(value));
  const bool usesExponent = decimal.exponent < -4 || decimal.exponent >= 16;
  return sign + (usesExponent ? scientific(decimal) : positional(decimal));
}

}  // namespace kerf::inline support
