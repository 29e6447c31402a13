// MinifyControl: what a person may do to a search while it runs.
#pragma once

#include <mutex>
#include <optional>

namespace kerf::inline minifier::inline core {

/// Told by any thread, obeyed by the search between two queries. Outlives the search.
class MinifyControl {
 public:
  /// No new query begins; those under way end, and their verdicts are kept.
  void pause();
  void resume();
  bool isPaused() const;
  /// The search goes back to its accepted step (MinifyStep::index) and on from there in another way: the candidate that
  /// was accepted next is not accepted again. Ignored where there is no such step behind the present one.
  void undoTo(int step);
  /// The last wish, once.
  std::optional<int> takeUndo();

 private:
  mutable std::mutex m_mutex;
  bool m_isPaused = false;
  std::optional<int> m_undo;
};

}  // namespace kerf::inline minifier::inline core
