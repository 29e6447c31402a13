// escapedText: one line, and nothing that a terminal acts upon.
#include "engine/support/log.h"

namespace kerf::inline support {
namespace {

/// Length of the UTF-8 sequence at the start of `text` and its code point; length 0 if it is none.
struct CodePoint {
  std::size_t length = 0;
  char32_t value = 0;
};

CodePoint firstCodePoint(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xc2 ? 0 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (length == 0 || length > text.size() || byte(0) > 0xf4) return {};
  char32_t value = length == 1 ? byte(0) : byte(0) & (0xff >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (value < least[length] || value > 0x10ffff || surrogate) return {};
  return {length, value};
}

bool isControl(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

/// What turns the direction of writing or starts a line of its own.
bool misleads(char32_t c) {
  return c == 0x2028 || c == 0x2029 || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void appendEscape(std::string& out, char32_t c) {
  if (c == '\n')
    out += "\\n";
  else if (c == '\t')
    out += "\\t";
  else
    out += c < 0x100 ? fmt::format("\\x{:02x}", std::uint32_t(c)) : fmt::format("\\u{:04x}", std::uint32_t(c));
}

}  // namespace

std::string escapedText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [length, c] = firstCodePoint(text);
    if (length == 0)
      appendEscape(out, static_cast<unsigned char>(text.front()));
    else if (isControl(c) || misleads(c))
      appendEscape(out, c);
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace kerf::inline support
