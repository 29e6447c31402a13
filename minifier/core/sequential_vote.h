// SequentialVote: when several verdicts on one candidate, which may differ, are enough.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

/// Whether a verdict is the failure that the search is after.
using IsWanted = std::function<bool(const Verdict&)>;

/// How verdicts become one.
struct VoteRule {
  int votes = 1;  ///< the majority of so many
  int passes =
      0;  ///< above 0 instead: one wanted failure is proof, so many other verdicts without one count as passing
};

/// The confidence with which a candidate that counts as passing fails more rarely than the start graph does.
inline constexpr double passConfidence = 0.999;
/// After so many queries without the failure one that fails at `rate` or more would have shown it, with passConfidence.
/// 1 for a rate of 1; at most 1000.
int passesNeeded(double rate);
/// What is safe to assume after `failures` of `queries`: the rate's lower confidence bound (Wilson's, 80 % one-sided),
/// since a rate taken too high would lose failures. 1 where all failed, because most failures are not flaky at all.
double assumedRate(int failures, int queries);

/// Takes verdicts one by one until it has one for all.
class SequentialVote {
 public:
  SequentialVote(const VoteRule& rule, const IsWanted& wanted) : m_rule(rule), m_wanted(wanted) {}
  /// The verdict of the candidate, with the time of all, as soon as that is settled.
  std::optional<Verdict> add(Verdict verdict);

 private:
  std::optional<Verdict> decided(const Verdict& last);
  Verdict mostFrequent() const;

  const VoteRule& m_rule;
  const IsWanted& m_wanted;
  std::vector<std::pair<Verdict, int>> m_counts;
  int m_asked = 0;
  std::chrono::nanoseconds m_time{};
};

}  // namespace kerf::inline minifier::inline core
