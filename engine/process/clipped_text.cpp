#include "engine/process/clipped_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace kerf::inline process {

void ClippedText::add(std::string_view bytes) {
  m_bytes += std::int64_t(bytes.size());
  const auto head = std::min(bytes.size(), m_most - m_head.size());
  m_head += bytes.substr(0, head);
  bytes.remove_prefix(head);
  if (bytes.size() > m_most) bytes.remove_prefix(bytes.size() - m_most);
  m_tail += bytes;
  if (m_tail.size() > 2 * m_most) m_tail.erase(0, m_tail.size() - m_most);  // now and then, not for every byte
}

std::string ClippedText::text() const {
  const auto tail = std::string_view(m_tail).substr(m_tail.size() - std::min(m_tail.size(), m_most));
  const auto left = m_bytes - std::int64_t(m_head.size() + tail.size());
  if (left == 0) return m_head + std::string(tail);
  return fmt::format("{}\n[{} bytes left out]\n{}", m_head, left, tail);
}

}  // namespace kerf::inline process
