#include "app/workbench/protocol/job_control.h"

#include <utility>

namespace kerf::workbench {

void JobControl::send(const ControlMessage& message) {
  const std::scoped_lock lock(m_mutex);
  if (m_listener)
    m_listener(message);
  else
    m_waiting.push_back(message);
}

std::optional<ControlMessage> JobControl::take() {
  const std::scoped_lock lock(m_mutex);
  if (m_waiting.empty()) return std::nullopt;
  const ControlMessage oldest = m_waiting.front();
  m_waiting.pop_front();
  return oldest;
}

void JobControl::listen(Listener listener) {
  const std::scoped_lock lock(m_mutex);
  m_listener = std::move(listener);
  for (; m_listener && !m_waiting.empty(); m_waiting.pop_front()) m_listener(m_waiting.front());
}

}  // namespace kerf::workbench
