#include "ui/panels/code_lines.h"

#include <algorithm>

#include "ui/session/text.h"

namespace kerf::ui::inline panels {
namespace {

bool isPlain(char c) { return c >= 0x20 && c < 0x7f; }

bool isBlankLine(const std::string& line) { return line.find_first_not_of(" \t\r\n\v\f") == std::string::npos; }

}  // namespace

CodeLines::CodeLines(QStringList lines) : m_own(std::move(lines)) {
  while (!m_own.isEmpty() && m_own.constLast().trimmed().isEmpty()) m_own.removeLast();
  m_size = int(m_own.size());
}

CodeLines::CodeLines(std::shared_ptr<const std::vector<std::string>> document) : m_document(std::move(document)) {
  m_size = m_document ? int(m_document->size()) : 0;
  while (m_size > 0 && isBlankLine((*m_document)[std::size_t(m_size - 1)])) --m_size;
}

QString CodeLines::at(int line) const {
  if (line < 0 || line >= m_size) return {};
  return m_document ? text((*m_document)[std::size_t(line)]) : m_own[line];
}

QString CodeLines::joined() const {
  if (!m_document) return m_own.join('\n');
  QStringList lines;
  lines.reserve(m_size);
  for (int line = 0; line < m_size; ++line) lines << at(line);
  return lines.join('\n');
}

/// Where a line has other characters than those of ASCII, its text need not be as long as its bytes are many.
int CodeLines::longest() const {
  int longest = 0;
  for (int line = 0; line < m_size; ++line) {
    const bool plain = m_document && std::ranges::all_of((*m_document)[std::size_t(line)], isPlain);
    longest = std::max(longest, int(plain ? qsizetype((*m_document)[std::size_t(line)].size()) : at(line).size()));
  }
  return longest;
}

}  // namespace kerf::ui::inline panels
