#include "minifier/bisect/version_bisection.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace kerf::inline minifier::inline bisect {

namespace {

class VersionSearch {
 public:
  VersionSearch(std::size_t count, const VersionTrial& trial, const WorkProgress& progress)
      : m_count(count), m_trial(trial), m_progress(progress) {}

  Result<VersionChange> run() {
    KERF_TRY(const auto first, firstTestable(0, m_count));
    KERF_TRY(const auto last, lastTestable(first.value_or(m_count) + 1, m_count));
    if (!first || !last)
      return fail(ErrorCode::BadInput, "fewer than two of {} versions can test the graph{}", m_count, reasons());
    std::size_t before = *first, after = *last;
    m_change.changes = differ(before, after);
    while (m_change.changes) {
      KERF_TRY(const auto middle, testableBetween(before, after));
      if (!middle) break;
      (differ(*first, *middle) ? after : before) = *middle;
    }
    m_change.before = before;
    m_change.after = after;
    for (std::size_t i = before + 1; i < after && m_change.changes; ++i) m_change.notTestable.push_back(i);
    return std::move(m_change);
  }

 private:
  bool differ(std::size_t a, std::size_t b) const { return m_known.at(a).fingerprint != m_known.at(b).fingerprint; }

  Result<bool> testable(std::size_t version) {
    if (const auto found = m_known.find(version); found != m_known.end()) return found->second.testable;
    if (!m_progress.step(fmt::format("version {} of {}", version + 1, m_count), share()))
      return fail(ErrorCode::Cancelled, "stopped");
    KERF_TRY(VersionAnswer answer, m_trial(version));
    m_change.trials.emplace_back(version, answer);
    return m_known.emplace(version, std::move(answer)).first->second.testable;
  }

  double share() const { return std::min(0.95, double(m_known.size()) / (2 + std::log2(double(m_count) + 1))); }

  Result<std::optional<std::size_t>> firstTestable(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      KERF_TRY(const bool can, testable(i));
      if (can) return i;
    }
    return std::nullopt;
  }
  Result<std::optional<std::size_t>> lastTestable(std::size_t begin, std::size_t end) {
    for (std::size_t i = end; i-- > begin;) {
      KERF_TRY(const bool can, testable(i));
      if (can) return i;
    }
    return std::nullopt;
  }

  /// The one nearest to the middle; none where all between cannot be tested.
  Result<std::optional<std::size_t>> testableBetween(std::size_t before, std::size_t after) {
    const std::size_t middle = before + (after - before) / 2;
    KERF_TRY(const auto later, firstTestable(std::max(middle, before + 1), after));
    if (later) return later;
    return lastTestable(before + 1, std::max(middle, before + 1));
  }

  /// ": …" of what the versions said; empty where none says why.
  std::string reasons() const {
    std::string text;
    for (const auto& [version, answer] : m_change.trials)
      if (!answer.testable && !answer.detail.empty()) text += (text.empty() ? ": " : "; ") + answer.detail;
    return text;
  }

  std::size_t m_count;
  const VersionTrial& m_trial;
  const WorkProgress& m_progress;
  std::map<std::size_t, VersionAnswer> m_known;
  VersionChange m_change;
};

}  // namespace

Result<VersionChange> bisectVersions(std::size_t count, const VersionTrial& trial, const WorkProgress& progress) {
  return VersionSearch(count, trial, progress).run();
}

}  // namespace kerf::inline minifier::inline bisect
