// escapedText() and printableText(): nothing that a terminal acts upon.
#include <algorithm>
#include <utility>

#include "engine/support/log.h"
#include "engine/support/printable.h"
#include "engine/support/utf8.h"

namespace kerf::inline support {
namespace {

struct CharacterRange {
  std::uint32_t first, last;
};
constexpr CharacterRange unprintable[] = {
    {0x00, 0x1f},      {0x7f, 0x9f},      // C0, DEL and C1
    {0x061c, 0x061c},  {0x200e, 0x200f},  // marks of direction
    {0x2028, 0x202e},  {0x2066, 0x2069},  // separators of lines and paragraphs, embeddings, overrides, isolates
    {0xe0000, 0xe007f}};                  // tags: letters that are not drawn

void appendEscape(std::string& out, std::uint32_t c) {
  if (c == '\n')
    out += "\\n";
  else if (c == '\t')
    out += "\\t";
  else
    out += c < 0x100     ? fmt::format("\\x{:02x}", c)
           : c < 0x10000 ? fmt::format("\\u{:04x}", c)
                         : fmt::format("\\U{:08x}", c);
}

enum class LineBreaks { Escaped, Kept };

std::string escaped(std::string_view text, LineBreaks lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [c, length] = firstCodePoint(text);
    const bool kept = lines == LineBreaks::Kept && (c == '\n' || c == '\t');
    if (lines == LineBreaks::Kept && text.starts_with("\r\n"))
      ;  // the end of a line, as other systems write it
    else if (length == 0)
      appendEscape(out, static_cast<unsigned char>(text.front()));
    else if (!kept && isUnprintable(c))
      appendEscape(out, c);
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

/// How many bytes at the end may be the beginning of a character, or of "\r\n".
std::size_t openEnd(std::string_view text) {
  if (text.ends_with('\r')) return 1;
  constexpr std::size_t longest = 3;  // bytes of a character but its last
  for (std::size_t back = 1; back <= std::min(longest, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const std::size_t length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace

bool isUnprintable(std::uint32_t c) {
  return std::ranges::any_of(unprintable, [&](const auto& range) { return c >= range.first && c <= range.last; });
}

std::string escapedText(std::string_view text) { return escaped(text, LineBreaks::Escaped); }

std::string printableText(std::string_view text) { return escaped(text, LineBreaks::Kept); }

std::string PrintableStream::next(std::string_view piece) {
  m_held += piece;
  const auto whole = m_held.size() - openEnd(m_held);
  auto text = printableText(std::string_view(m_held).substr(0, whole));
  m_held.erase(0, whole);
  return text;
}

std::string PrintableStream::rest() { return printableText(std::exchange(m_held, {})); }

}  // namespace kerf::inline support
