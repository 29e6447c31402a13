#include "engine/capture/text/line_prefix.h"

#include <cctype>

namespace kerf::inline capture {
namespace {

bool isBlank(char c) { return c == ' ' || c == '\t'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Whether the digits at `at` of a prefix tell one writer from another ("rank0", "pid=81", "[0/1]"), as those of times
/// do not.
bool tellsWriters(std::string_view prefix, std::size_t at) {
  const char before = at > 0 ? prefix[at - 1] : ' ';
  if (before == '=') return true;
  if (isLetter(before)) return at < 2 || !isDigit(prefix[at - 2]);  // "2024-01-31T13:54" is a time
  const std::size_t open = prefix.rfind('[', at);
  const std::size_t slash = prefix.find('/', at);
  const std::size_t close = prefix.find(']', at);
  if (open == std::string_view::npos || close == std::string_view::npos) return false;
  const bool slashed = prefix.substr(open, close - open).find_first_not_of("[0123456789/_!") == std::string_view::npos;
  return slashed && (slash < close || before == '/' || before == '_');
}

std::size_t digitsAt(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && isDigit(text[end])) ++end;
  return end - at;
}

std::size_t blanksAt(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && isBlank(text[end])) ++end;
  return end - at;
}

}  // namespace

LinePrefix::LinePrefix(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t");
  if (last != std::string_view::npos) m_text = text.substr(0, last + 1);
}

std::optional<std::string_view> LinePrefix::without(std::string_view line) const {
  if (m_text.empty()) return line;
  std::size_t at = blanksAt(line, 0);
  for (std::size_t i = blanksAt(m_text, 0); i < m_text.size();) {
    if (isBlank(m_text[i])) {
      if (blanksAt(line, at) == 0) return std::nullopt;
      i += blanksAt(m_text, i);
      at += blanksAt(line, at);
    } else if (isDigit(m_text[i])) {
      const std::size_t wanted = digitsAt(m_text, i), found = digitsAt(line, at);
      if (found == 0) return std::nullopt;
      if (tellsWriters(m_text, i) && std::string_view(m_text).substr(i, wanted) != line.substr(at, found))
        return std::nullopt;
      i += wanted;
      at += found;
    } else {
      if (at >= line.size() || line[at] != m_text[i]) return std::nullopt;
      ++i;
      ++at;
    }
  }
  return line.substr(at);
}

}  // namespace kerf::inline capture
