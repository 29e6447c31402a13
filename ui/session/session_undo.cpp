// Session: what the user did and may take back.
#include <algorithm>

#include "ui/session/session.h"

namespace kerf::ui::inline session {

namespace {

constexpr std::size_t mostSteps = 200;

bool isPossible(const UndoStep& step) { return !step.possible || step.possible(); }

}  // namespace

void Session::addUndo(UndoStep step) {
  if (m_undo.size() >= mostSteps) m_undo.erase(m_undo.begin());
  m_undo.push_back(std::move(step));
  emit undoChanged();
}

bool Session::canUndo() const { return std::ranges::any_of(m_undo, isPossible); }

QString Session::undoTitle() const {
  const auto newest = std::ranges::find_if(m_undo.rbegin(), m_undo.rend(), isPossible);
  return newest == m_undo.rend() ? QString() : newest->what;
}

/// What cannot be taken back any more (a block of a graph that is not shown) is passed over, and forgotten.
void Session::undo() {
  while (!m_undo.empty()) {
    const auto step = std::move(m_undo.back());
    m_undo.pop_back();
    if (!isPossible(step)) continue;
    step.takeBack();
    break;
  }
  emit undoChanged();
}

}  // namespace kerf::ui::inline session
