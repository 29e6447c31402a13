#include "engine/capture/text/piece_rows.h"

namespace kerf::inline capture {
namespace {

constexpr std::size_t longestGap = 200;  ///< lines of others between two of one writer
constexpr std::size_t looksAhead = 20;

}  // namespace

PieceRows::PieceRows(const std::vector<TextLine>& lines, const std::vector<bool>& taken, std::size_t first,
                     std::string_view before)
    : m_lines(lines), m_taken(taken), m_prefix(before), m_at(first + 1) {
  m_isDiff = m_prefix.text() == "+";
  const std::string_view line = lines[first].text;
  if (!m_prefix.empty() && !standsOnMore(first)) {
    m_prefix = LinePrefix();
    m_first = line.substr(before.size());
    return;
  }
  m_first = rest(line).value_or(line);
}

/// Whether one of the next lines begins so too.
bool PieceRows::standsOnMore(std::size_t first) const {
  for (std::size_t at = first + 1; at < m_lines.size() && at <= first + looksAhead && !m_lines[at].fence; ++at)
    if (m_prefix.without(m_lines[at].text)) return true;
  return false;
}

std::optional<std::string_view> PieceRows::rest(std::string_view line) const {
  if (m_isDiff && line.starts_with(' ')) return line.substr(1);
  return m_prefix.without(line);
}

std::optional<PieceRow> PieceRows::next() {
  for (std::size_t gap = 0; m_at < m_lines.size() && gap < longestGap; ++gap) {
    const TextLine& line = m_lines[m_at];
    if (line.fence) return std::nullopt;
    const std::size_t index = m_at++;
    if (m_taken[index]) continue;
    if (const auto text = rest(line.text)) return PieceRow{index, *text};
  }
  return std::nullopt;
}

}  // namespace kerf::inline capture
