#include "engine/capture/plausible/value_need.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace kerf::inline capture {
namespace {

constexpr std::size_t shownReasons = 4;

NeedRange rangeBefore(const NeedRange& range, double scale, double offset) {
  const double a = (range.lower - offset) / scale, b = (range.upper - offset) / scale;
  return {std::min(a, b), std::max(a, b)};
}

}  // namespace

bool NeedRange::bounded() const { return std::isfinite(lower) || std::isfinite(upper); }

NeedRange NeedRange::intersected(const NeedRange& other) const {
  return {std::max(lower, other.lower), std::min(upper, other.upper)};
}

bool ValueNeed::unknown() const {
  return pattern == Pattern::Free && !hard.bounded() && !likely.bounded() && !whole && !centre && !spread;
}

void ValueNeed::meet(const ValueNeed& other) {
  const NeedRange both = hard.intersected(other.hard);
  if (both.empty()) return;
  hard = both;
  const NeedRange narrower = likely.intersected(other.likely);
  if (!narrower.empty()) likely = narrower;
  if (pattern == Pattern::Free) {
    pattern = other.pattern;
    dim = other.dim;
    total = other.total;
    endsAtTotal = other.endsAtTotal;
    ones = other.ones;
  }
  whole = whole || other.whole;
  // What feeds a product decides on the scale before what is only multiplied or added.
  const bool finer = other.spread && (!spread || *other.spread < *spread);
  if (other.centre && (!centre || finer)) centre = other.centre;
  if (finer) spread = other.spread;
  if (distinct.size() != reasons.size()) distinct = {reasons.begin(), reasons.end()};
  for (const std::string& reason : other.reasons)
    if (distinct.insert(reason).second) reasons.push_back(reason);
}

ValueNeed ValueNeed::before(double scale, double offset) const {
  if (scale == 1 && offset == 0) return *this;
  ValueNeed need = *this;
  need.hard = rangeBefore(hard, scale, offset);
  need.likely = rangeBefore(likely, scale, offset);
  if (centre) need.centre = (*centre - offset) / scale;
  if (spread) need.spread = *spread / std::abs(scale);
  if (pattern == Pattern::Binary && scale < 0) need.ones = 1 - ones;
  return need;
}

std::string ValueNeed::text() const {
  std::string out;
  for (std::size_t i = 0; i < std::min(reasons.size(), shownReasons); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : "; ", reasons[i]);
  if (reasons.size() > shownReasons) out += fmt::format("; {} more uses", reasons.size() - shownReasons);
  return out;
}

}  // namespace kerf::inline capture
