// repr() of Python's str, as every printed form of a graph uses it.
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
