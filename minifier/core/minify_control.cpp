#include "minifier/core/minify_control.h"

#include <utility>

namespace kerf::inline minifier::inline core {

void MinifyControl::pause() {
  const std::lock_guard lock(m_mutex);
  m_isPaused = true;
}

void MinifyControl::resume() {
  const std::lock_guard lock(m_mutex);
  m_isPaused = false;
}

bool MinifyControl::isPaused() const {
  const std::lock_guard lock(m_mutex);
  return m_isPaused;
}

void MinifyControl::undoTo(int step) {
  const std::lock_guard lock(m_mutex);
  m_undo = step;
}

std::optional<int> MinifyControl::takeUndo() {
  const std::lock_guard lock(m_mutex);
  return std::exchange(m_undo, std::nullopt);
}

}  // namespace kerf::inline minifier::inline core
