#include "engine/lower/taken_places.h"

#include <algorithm>
#include <bit>

namespace kerf::inline lower {
namespace {

bool meet(StepSpan a, StepSpan b) { return a.first <= b.last && b.first <= a.last; }
bool lies(StepSpan inner, StepSpan outer) { return outer.first <= inner.first && inner.last <= outer.last; }

StepSpan firstHalf(StepSpan span) { return {span.first, span.first + (span.last - span.first) / 2}; }
StepSpan secondHalf(StepSpan span) { return {firstHalf(span).last + 1, span.last}; }

}  // namespace

TakenPlaces::TakenPlaces(StepSpan all) : m_all(all) {
  m_nodes.resize(2 * std::bit_ceil(std::size_t(all.last - all.first) + 1) - 1);
}

void TakenPlaces::take(StepSpan time, ArenaRange place) { take(0, m_all, time, place); }

void TakenPlaces::take(std::size_t node, StepSpan span, StepSpan time, ArenaRange place) {
  if (!meet(span, time)) return;
  unite(m_nodes[node].ever, place);
  if (lies(span, time)) return unite(m_nodes[node].throughout, place);
  take(2 * node + 1, firstHalf(span), time, place);
  take(2 * node + 2, secondHalf(span), time, place);
}

void TakenPlaces::unite(Ranges& ranges, ArenaRange range) {
  const auto from = std::ranges::lower_bound(ranges, range.begin, {}, &ArenaRange::end);
  auto to = from;
  for (; to != ranges.end() && to->begin <= range.end; ++to) {
    range.begin = std::min(range.begin, to->begin);
    range.end = std::max(range.end, to->end);
  }
  if (from == to)
    ranges.insert(from, range);
  else
    *from = range, ranges.erase(from + 1, to);
}

/// Everything that is taken at some step of `time`.
void TakenPlaces::collect(std::size_t node, StepSpan span, StepSpan time, Ranges& found) const {
  if (!meet(span, time)) return;
  const bool isWithin = lies(span, time);
  const Ranges& taken = isWithin ? m_nodes[node].ever : m_nodes[node].throughout;
  found.insert(found.end(), taken.begin(), taken.end());
  if (isWithin) return;
  collect(2 * node + 1, firstHalf(span), time, found);
  collect(2 * node + 2, secondHalf(span), time, found);
}

std::int64_t TakenPlaces::bestFit(StepSpan time, std::int64_t bytes) const {
  Ranges taken;
  collect(0, m_all, time, taken);
  std::ranges::sort(taken, {}, &ArenaRange::begin);
  std::int64_t best = -1, bestGap = 0, end = 0;
  for (const ArenaRange& range : taken) {
    const std::int64_t gap = range.begin - end;
    if (gap >= bytes && (best < 0 || gap < bestGap)) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, range.end);
  }
  return best < 0 ? end : best;
}

}  // namespace kerf::inline lower
