// SafeBuilding: what goes wrong while an edit is built loses the edit and not the search.
#pragma once

#include <functional>
#include <string>

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline core {

/// Takes exceptions and crashes of Kerf itself for "not possible". After the first crash in this process everything is
/// built in a process of its own first, which says whether it can be built here; until then that costs nothing.
class SafeBuilding {
 public:
  explicit SafeBuilding(std::stop_token stop = {}) : m_stop(std::move(stop)) {}

  /// build(), which may throw, crash or hang. `what` names it in the log.
  std::optional<Candidate> build(const std::string& what, const std::function<std::optional<Candidate>()>& build);
  /// The edits of `reduction`; none where asking for them goes wrong.
  std::vector<Edit> edits(const Reduction& reduction, const ReductionInput& input, ResumePoint resume);
  /// What went wrong so far. A size that only running tells is nothing wrong.
  int losses() const { return m_losses; }

 private:
  /// Whether `work` came to its end.
  bool endsWell(const std::string& what, const std::function<void()>& work);
  bool endsWellElsewhere(const std::string& what, const std::function<void()>& work);
  bool lost(const std::string& what, const std::string& why);

  std::stop_token m_stop;
  int m_losses = 0;
};

}  // namespace kerf::inline minifier::inline core
