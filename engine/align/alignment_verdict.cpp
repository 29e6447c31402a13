#include "engine/align/alignment_verdict.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/align/cancellation.h"
#include "engine/align/rounding_causes.h"

namespace kerf::inline align {

namespace {

class RunVerdict {
 public:
  RunVerdict(RunAlignment& all, const AlignedSteps& steps, const UnjudgedResults& unjudged)
      : m_all(all), m_steps(steps), m_unjudged(unjudged) {}

  void giveRoles() {
    for (std::size_t i = 0; i < m_all.pairs.size(); ++i) {
      AlignedPair& pair = m_all.pairs[i];
      if (pair.outputs.kind == GapKind::Unknown) continue;
      if (differs(pair.outputs.kind) && m_all.firstUnequal == SIZE_MAX) m_all.firstUnequal = i;
      pair.role = pair.outputs.kind == GapKind::Equal                 ? PairRole::Same
                  : pair.outputs.kind == GapKind::Rounding            ? PairRole::Rounding
                  : isWrong(pair.inputs.kind) && !isWrongItself(pair) ? following(pair)
                  : m_all.first == SIZE_MAX                           ? PairRole::First
                                                                      : PairRole::New;
      if (pair.role == PairRole::First) m_all.first = i;
    }
  }

  void conclude() {
    findLonelyFirst();
    preferFirstBits();
    RunAlignment& all = m_all;
    const auto has = [&](PairRole role) {
      return std::ranges::any_of(all.pairs, [&](const auto& pair) { return pair.role == role; });
    };
    if (const auto shapes =
            std::ranges::count_if(all.pairs, [](const AlignedPair& pair) { return pair.outputs.basis == "shape"; });
        shapes > 0)
      all.notes.push_back(
          fmt::format("{} pairs have other shapes in the two runs: nothing is said of their values", shapes));
    if (m_unjudged.alone > 0)
      all.notes.push_back(
          fmt::format("{} results have no partner in the other run: nothing is said of them", m_unjudged.alone));
    if (const std::size_t lost = lostResults(); lost > 0 && all.first == SIZE_MAX)
      all.notes.push_back(fmt::format(
          "{} results that nothing takes are those of no step of the other run: nothing is said of them", lost));
    if (m_unjudged.below > 0)
      all.notes.push_back(
          fmt::format("{} values are smaller than the rounding of the largest, and differ: nothing is said of them",
                      m_unjudged.below));
    if (m_unjudged.aside > 0)
      all.notes.push_back(
          fmt::format("{} further results differ and are left out: they may hold what nobody wrote", m_unjudged.aside));
    if (all.first != SIZE_MAX || has(PairRole::Follows))
      all.verdict = AlignVerdict::Different;
    else if (has(PairRole::Rounding))
      all.verdict = AlignVerdict::Rounding;
    else if (has(PairRole::Same))
      all.verdict = AlignVerdict::Same;
  }

 private:
  static bool isWrongItself(const AlignedPair& pair) { return pair.rerun && pair.rerun->own > pair.rerun->allowed; }

  /// What passes a value on may be paired in another order than the values are: it is no sign of a fault before it.
  PairRole following(const AlignedPair& pair) const {
    const bool passes = std::ranges::all_of(pair.steps.b, [&](std::size_t j) { return passesThrough(m_steps.b[j]); });
    return passes && m_all.first == SIZE_MAX ? PairRole::Unknown : PairRole::Follows;
  }

  /// Where everything that is wrong follows from something that has no counterpart: that is the first.
  void findLonelyFirst() {
    RunAlignment& all = m_all;
    const auto follower = std::ranges::find(all.pairs, PairRole::Follows, &AlignedPair::role);
    if (all.first != SIZE_MAX || follower == all.pairs.end()) return;
    std::size_t first = std::size_t(follower - all.pairs.begin());
    for (std::size_t i = 0; i < first; ++i) {
      const AlignedPair& pair = all.pairs[i];
      if (pair.role != PairRole::Unknown || pair.steps.b.empty()) continue;
      const auto users = m_steps.valuesB.taking(pair.steps.b.back());
      if (std::ranges::any_of(users, [&](std::size_t user) {
            return std::ranges::find(follower->steps.b, user) != follower->steps.b.end();
          }))
        first = i;
    }
    all.pairs[first].role = PairRole::First;
    all.first = first;
  }

  /// Where everything before the first other bits is equal, and what is wrong takes just those, they are the fault: sums
  /// of magnitudes may hide it.
  void preferFirstBits() {
    RunAlignment& all = m_all;
    if (all.first == SIZE_MAX || all.firstUnequal >= all.first) return;
    AlignedPair &bits = all.pairs[all.firstUnequal], &wrong = all.pairs[all.first];
    if (bits.steps.a.size() != 1 || bits.steps.b.size() != 1 || m_steps.b[bits.steps.b.front()].kernel ||
        bits.inputs.kind != GapKind::Equal)
      return;
    const auto users = m_steps.valuesB.taking(bits.steps.b.front());
    const bool taken = std::ranges::any_of(
        users, [&](std::size_t user) { return std::ranges::find(wrong.steps.b, user) != wrong.steps.b.end(); });
    if (!taken || m_steps.b[wrong.steps.b.back()].kernel) return;
    wrong.role = PairRole::Follows;
    bits.role = PairRole::First;
    all.first = all.firstUnequal;
  }

  /// Of pairs that were not judged: what the run gives in the end, and the other run nowhere.
  std::size_t lostResults() const {
    std::size_t lost = 0;
    for (const AlignedPair& pair : m_all.pairs) {
      if (pair.role != PairRole::Unknown) continue;
      for (const std::size_t j : pair.steps.b)
        for (const StepValue& value : m_steps.b[j].outputs)
          lost += std::size_t(roundingOf(value.dtype) > 0 && tellsApart(value) && value.measured() &&
                              !m_steps.valuesB.isTaken(j, value) && m_steps.valuesA.nearest(value) == nullptr);
    }
    return lost;
  }

  RunAlignment& m_all;
  const AlignedSteps& m_steps;
  const UnjudgedResults& m_unjudged;
};

}  // namespace

void giveVerdict(RunAlignment& alignment, const AlignedSteps& steps, const UnjudgedResults& unjudged) {
  RunVerdict verdict(alignment, steps, unjudged);
  verdict.giveRoles();
  verdict.conclude();
}

}  // namespace kerf::inline align
