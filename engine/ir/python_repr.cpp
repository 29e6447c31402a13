// repr() of Python's float and str, as every printed form of a graph uses them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "engine/ir/argument.h"
#include "engine/support/utf8.h"

namespace kerf::inline ir {
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

struct CodeRange {
  std::uint32_t first, last;
};
/// Code points above ASCII that str.isprintable() refuses and that may occur in real text.
constexpr CodeRange nonPrintable[] = {{0x80, 0xa0},     {0xad, 0xad},     {0x600, 0x605},     {0x61c, 0x61c},
                                      {0x1680, 0x1680}, {0x180e, 0x180e}, {0x2000, 0x200f},   {0x2028, 0x202f},
                                      {0x205f, 0x206f}, {0x3000, 0x3000}, {0xd800, 0xf8ff},   {0xfeff, 0xfeff},
                                      {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0x10ffff}};

bool isPrintable(std::uint32_t code) {
  if (code < 0x80) return code >= 0x20 && code != 0x7f;
  for (const auto& range : nonPrintable)
    if (code >= range.first && code <= range.last) return false;
  return true;
}

std::string escapeCode(std::uint32_t code) {
  if (code < 0x100) return fmt::format("\\x{:02x}", code);
  return code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
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

std::string pythonString(std::string_view text) {
  const bool doubleQuote = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = doubleQuote ? '"' : '\'';
  std::string out(1, quote);
  while (!text.empty()) {
    const char c = text.front();
    const auto [decoded, bytes] = firstCodePoint(text, Surrogates::Allowed);
    const std::size_t length = std::max<std::size_t>(bytes, 1);
    const std::uint32_t code = bytes == 0 ? static_cast<unsigned char>(c) : decoded;
    if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\\' || c == quote)
      out += std::string("\\") + c;
    else if (isPrintable(code))
      out += text.substr(0, length);
    else
      out += escapeCode(code);
    text.remove_prefix(length);
  }
  return out + quote;
}

}  // namespace kerf::inline ir
