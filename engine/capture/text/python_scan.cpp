#include "engine/capture/text/python_scan.h"

#include <algorithm>

namespace kerf::inline capture {

void PythonScan::line(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) at += step(text, at);
  if (m_quote.size() == 1) m_quote.clear();  // an open quote ends with its line
}

std::size_t PythonScan::step(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (!m_quote.empty()) {
    if (c == '\\') return 2;
    if (!text.substr(at).starts_with(m_quote)) return 1;
    const std::size_t length = m_quote.size();
    m_quote.clear();
    return length;
  }
  if (m_isPython && c == '#') return text.size() - at;
  if (m_isPython && (c == '\'' || c == '"')) {
    const bool triple = text.substr(at, 3) == std::string(3, c);
    m_quote.assign(triple ? 3 : 1, c);
    return m_quote.size();
  }
  if (c == '(' || c == '[' || c == '{') ++m_depth;
  if (c == ')' || c == ']' || c == '}') m_depth = std::max(0, m_depth - 1);
  return 1;
}

}  // namespace kerf::inline capture
