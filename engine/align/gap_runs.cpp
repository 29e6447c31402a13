#include "engine/align/gap_runs.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/align/rounding_causes.h"

namespace kerf::inline align {

namespace {

using Steps = std::vector<std::size_t>;

bool isFloat(const StepValue& value) {
  return value.dtype.starts_with('f') || value.dtype.starts_with("bf") || value.dtype.starts_with('c');
}

/// The values by which a step is known again: indices beside numbers (of a max_pool) stay the same where those do not.
bool counts(const RunStep& step, const StepValue& value) {
  return isFloat(value) || std::ranges::none_of(step.outputs, isFloat);
}

/// Whether some value that the step gives is one of the other recording, too.
bool isFound(const RunStep& step, const ValueIndex& other) {
  return std::ranges::any_of(
      step.outputs, [&](const StepValue& value) { return counts(step, value) && other.nearest(value) != nullptr; });
}

/// Steps of a gap that have no counterpart but feed one that has: what a run computes on its way.
class OnTheWay {
 public:
  OnTheWay(const std::vector<RunStep>& steps, const ValueIndex& own, const ValueIndex& other)
      : m_steps(steps), m_own(own), m_other(other) {}

  /// `open` in order; `odd` are those that are on no way, whatever takes their values.
  std::unordered_set<std::size_t> of(const Steps& open, const std::unordered_set<std::size_t>& matched,
                                     const std::unordered_set<std::size_t>& odd) const {
    std::unordered_set<std::size_t> found;
    for (auto step = open.rbegin(); step != open.rend(); ++step) {
      if (matched.contains(*step) || odd.contains(*step)) continue;
      const auto good = [&](std::size_t user) {
        return matched.contains(user) || found.contains(user) || isFound(m_steps[user], m_other);
      };
      const Steps users = m_own.taking(*step);
      if (!m_own.knowsUsers() || std::ranges::any_of(users, good)) found.insert(*step);
    }
    return found;
  }

 private:
  const std::vector<RunStep>& m_steps;
  const ValueIndex &m_own, &m_other;
};

/// The open steps of one side, and where the values of the other recording are.
struct OpenSteps {
  const std::vector<RunStep>& steps;
  const ValueIndex& other;
  const Steps& open;
};

/// A kernel, or a call that one may stand for, whose results the other recording has nowhere.
bool isUnfound(const RunStep& step, const ValueIndex& other) {
  if (passesThrough(step) || (!step.kernel && roundingCause(step).products)) return false;
  const bool known =
      std::ranges::any_of(step.outputs, [&](const StepValue& value) { return isFloat(value) && tellsApart(value); });
  return known && !isFound(step, other);
}

/// Whether what `b` gives could be what `a` gives: the same op on as many tensors, or a kernel with a result of that size.
bool isLike(const RunStep& a, const RunStep& b) {
  if (!a.kernel && !b.kernel) return a.op == b.op && a.inputs.size() == b.inputs.size();
  return std::ranges::any_of(a.outputs, [&](const StepValue& mine) {
    return std::ranges::any_of(b.outputs,
                               [&](const StepValue& theirs) { return mine.elements() == theirs.elements(); });
  });
}

/// Whether one of both is a kernel that says that it computes the other, or both are kernels.
bool claims(const RunStep& a, const RunStep& b) {
  if (a.kernel && b.kernel) return true;
  std::string_view op = shortOpName(a.kernel ? b.op : a.op);
  while (op.starts_with('_')) op.remove_prefix(1);
  return (a.kernel || b.kernel) && (a.kernel ? a.op : b.op).find(fmt::format("_{}_", op)) != std::string::npos;
}

/// Steps without counterpart for which the other side has one without counterpart that gives as many elements and should
/// be the same.
std::unordered_set<std::size_t> oddSteps(const OpenSteps& mine, const OpenSteps& theirs) {
  constexpr std::size_t mostOfOneSize = 200;
  std::unordered_map<std::int64_t, Steps> bySize;
  for (const std::size_t j : theirs.open)
    if (isUnfound(theirs.steps[j], theirs.other))
      for (const StepValue& value : theirs.steps[j].outputs)
        if (Steps& steps = bySize[value.elements()]; isFloat(value) && steps.size() < mostOfOneSize) steps.push_back(j);
  std::unordered_set<std::size_t> odd;
  for (const std::size_t i : mine.open) {
    const RunStep& step = mine.steps[i];
    if (!isUnfound(step, mine.other)) continue;
    for (const StepValue& value : step.outputs)
      if (const auto found = bySize.find(value.elements()); found != bySize.end())
        if (std::ranges::any_of(found->second, [&](std::size_t j) { return claims(step, theirs.steps[j]); }))
          odd.insert(i);
  }
  return odd;
}

}  // namespace

/// Steps of `b` with the step of `a` in the gap that gives one of their values; each step at most once.
std::vector<std::pair<std::size_t, std::size_t>> GapRuns::matched(const GapSteps& gap) const {
  const std::unordered_set<std::size_t> open(gap.a.begin(), gap.a.end());
  std::unordered_set<std::size_t> taken;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (const std::size_t j : gap.b) {
    std::optional<std::size_t> partner;
    for (const StepValue& value : m_b[j].outputs)
      for (const std::size_t i : counts(m_b[j], value) ? m_valuesA.giving(value) : Steps())
        if (!partner && open.contains(i) && !taken.contains(i)) partner = i;
    if (!partner) continue;
    taken.insert(*partner);
    pairs.emplace_back(*partner, j);
  }
  return pairs;
}

/// One side of a gap: who is matched, and who is on the way to a match.
struct GapRuns::Side {
  Steps open, left;
  std::unordered_set<std::size_t> matched, way;

  /// Steps on the way that come before `step` and are in no run yet, and the step.
  Steps runUpTo(std::size_t step) {
    Steps run;
    for (const std::size_t i : open)
      if (i < step && way.erase(i) > 0) run.push_back(i);
    run.push_back(step);
    return run;
  }
  void settle() {
    for (const std::size_t i : open)
      if (!matched.contains(i) && (way.contains(i) || !m_done.contains(i))) left.push_back(i);
  }
  std::unordered_set<std::size_t> m_done;
};

std::vector<StepPair> GapRuns::pairs(const GapSteps& gap) {
  Side a{.open = gap.a}, b{.open = gap.b};
  auto found = matched(gap);
  for (const auto& [i, j] : found) {
    a.matched.insert(i);
    b.matched.insert(j);
  }
  const auto oddA = oddSteps({m_a, m_valuesB, gap.a}, {m_b, m_valuesA, gap.b});
  const auto oddB = oddSteps({m_b, m_valuesA, gap.b}, {m_a, m_valuesB, gap.a});
  a.way = OnTheWay(m_a, m_valuesA, m_valuesB).of(gap.a, a.matched, oddA);
  b.way = OnTheWay(m_b, m_valuesB, m_valuesA).of(gap.b, b.matched, oddB);
  std::vector<StepPair> pairs;
  std::ranges::sort(found);
  for (const auto& [i, j] : found) pairs.push_back({a.runUpTo(i), {j}, PairEvidence::Values});
  std::ranges::sort(pairs, {}, [](const StepPair& pair) { return pair.b.front(); });
  for (StepPair& pair : pairs) pair.b = b.runUpTo(pair.b.back());
  for (StepPair& pair : pairs) {
    a.m_done.insert(pair.a.begin(), pair.a.end());
    b.m_done.insert(pair.b.begin(), pair.b.end());
  }
  a.settle();
  b.settle();
  // What is left computes something else on both sides, in the same order. What has nothing like it on the other side
  // cannot be judged by itself: it goes together with what comes next.
  std::size_t next = 0;
  Steps pending;
  for (std::size_t k = 0; k < b.left.size(); ++k) {
    const std::size_t j = b.left[k];
    pending.push_back(j);
    const bool last = k + 1 == b.left.size();
    std::size_t end = next;
    while (end < a.left.size() && !isLike(m_a[a.left[end]], m_b[j])) ++end;
    if (end == a.left.size() && !last) continue;
    if (last) end = a.left.empty() ? 0 : a.left.size() - 1;
    StepPair pair{{}, std::exchange(pending, {}), PairEvidence::None};
    for (; next <= end && next < a.left.size(); ++next) pair.a.push_back(a.left[next]);
    if (!pair.a.empty()) pair.evidence = PairEvidence::Between;
    pairs.push_back(std::move(pair));
  }
  for (; next < a.left.size(); ++next) pairs.push_back({{a.left[next]}, {}, PairEvidence::None});
  return pairs;
}

}  // namespace kerf::inline align
