// escapedText: one line, and nothing that a terminal acts upon.
#include "engine/support/log.h"
#include "engine/support/utf8.h"

namespace kerf::inline support {
namespace {

bool isControl(std::uint32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

/// What turns the direction of writing or starts a line of its own.
bool misleads(std::uint32_t c) {
  return c == 0x2028 || c == 0x2029 || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void appendEscape(std::string& out, std::uint32_t c) {
  if (c == '\n')
    out += "\\n";
  else if (c == '\t')
    out += "\\t";
  else
    out += c < 0x100 ? fmt::format("\\x{:02x}", c) : fmt::format("\\u{:04x}", c);
}

}  // namespace

std::string escapedText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [c, length] = firstCodePoint(text);
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
