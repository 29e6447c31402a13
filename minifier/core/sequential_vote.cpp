// SequentialVote: majority, or any failure.
#include "minifier/core/sequential_vote.h"

#include <algorithm>
#include <cmath>

namespace kerf::inline minifier::inline core {

namespace {

/// The ratio of a wrong value may be another one in each run.
bool sameVerdict(const Verdict& a, const Verdict& b) {
  return a.kind == b.kind && failureName(a.fingerprint) == failureName(b.fingerprint);
}

/// What cannot be tested twice in a row is not worth all the queries that a pass takes.
constexpr int untestableIsEnough = 2;

}  // namespace

int passesNeeded(double rate) {
  constexpr int most = 1000;
  if (rate >= 1) return 1;
  if (rate <= 0) return most;
  return int(std::clamp(std::ceil(std::log(1 - passConfidence) / std::log(1 - rate)), 1.0, double(most)));
}

double assumedRate(int failures, int queries) {
  if (failures >= queries) return 1;
  constexpr double z = 0.8416;  // 80 %, one-sided
  const double n = queries, p = failures / n;
  const double middle = p + z * z / (2 * n), spread = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return (middle - spread) / (1 + z * z / n);
}

std::optional<Verdict> SequentialVote::add(Verdict verdict) {
  ++m_asked;
  m_time += verdict.time;
  auto same = std::ranges::find_if(m_counts, [&](const auto& entry) { return sameVerdict(entry.first, verdict); });
  if (same == m_counts.end()) same = m_counts.insert(m_counts.end(), {verdict, 0});
  ++same->second;
  auto settled = decided(verdict);
  if (settled) settled->time = m_time;
  return settled;
}

std::optional<Verdict> SequentialVote::decided(const Verdict& last) {
  if (m_rule.passes > 0) {
    if (m_wanted(last)) return last;
    const bool isUntestable = last.kind == VerdictKind::CannotTest && m_counts.size() == 1;
    const int enough = isUntestable ? std::min(untestableIsEnough, m_rule.passes) : m_rule.passes;
    return m_asked >= enough ? std::optional(mostFrequent()) : std::nullopt;
  }
  const int votes = std::max(m_rule.votes, 1);
  const Verdict most = mostFrequent();
  const auto count = std::ranges::max(m_counts, {}, [](const auto& entry) { return entry.second; }).second;
  if (count * 2 > votes) return most;
  if (m_asked < votes) return std::nullopt;
  return Verdict{.kind = VerdictKind::CannotTest, .detail = "no majority: the verdicts differ"};
}

Verdict SequentialVote::mostFrequent() const {
  return std::ranges::max_element(m_counts, {}, [](const auto& entry) { return entry.second; })->first;
}

}  // namespace kerf::inline minifier::inline core
