#include "engine/audit/memory/element_region.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "engine/symbolic/shape_env.h"

namespace kerf::inline audit {
namespace {

constexpr std::int64_t mostBits = std::int64_t{1} << 31;  ///< of one drawn set
constexpr std::int64_t mostRuns = std::int64_t{1} << 26;  ///< of one box that is drawn or asked for
constexpr std::size_t mostBoxes = 4096;

using Bits = std::vector<std::uint64_t>;

/// Numbers that can be counted with: a text may have any.
bool isBounded(const ElementBox& box) {
  constexpr double most = 4e18;
  if (!box.isConcrete()) return false;
  double last = std::abs(double(box.first.bits())), count = 1;
  for (const BoxStep& step : box.steps) {
    if (step.stride.bits() < 0 || step.count.bits() < 0) return false;
    last += double(step.stride.bits()) * double(step.count.bits());
    count *= double(step.count.bits());
  }
  return last < most && count < most;
}

/// Calls visit(first, count, stride) for each innermost run; it returns false to stop.
template <class Visit>
bool eachRun(const ElementBox& box, std::int64_t first, std::size_t step, const Visit& visit) {
  if (step == box.steps.size()) return visit(first, std::int64_t{1}, std::int64_t{1});
  const std::int64_t stride = box.steps[step].stride.bits(), count = box.steps[step].count.bits();
  if (step + 1 == box.steps.size()) return visit(first, count, stride);
  for (std::int64_t i = 0; i < count; ++i)
    if (!eachRun(box, first + i * stride, step + 1, visit)) return false;
  return true;
}

std::int64_t runCount(const ElementBox& box) {
  std::int64_t runs = 1;
  for (std::size_t i = 0; i < box.steps.size(); ++i) {
    const bool isRun = i + 1 == box.steps.size() && box.steps[i].stride.bits() == 1;
    const std::int64_t count = isRun ? box.steps[i].count.bits() / 64 + 1 : box.steps[i].count.bits();
    if (count > 0 && runs > mostRuns / count) return mostRuns + 1;
    runs *= std::max<std::int64_t>(count, 1);
  }
  return runs;
}

void setRun(Bits& bits, std::int64_t first, std::int64_t count) {
  std::int64_t at = first;
  const std::int64_t end = first + count;
  for (; at < end && at % 64 != 0; ++at) bits[std::size_t(at / 64)] |= std::uint64_t{1} << (at % 64);
  for (; at + 64 <= end; at += 64) bits[std::size_t(at / 64)] = ~std::uint64_t{0};
  for (; at < end; ++at) bits[std::size_t(at / 64)] |= std::uint64_t{1} << (at % 64);
}

bool hasBit(const Bits& bits, std::int64_t at) {
  return at >= 0 && std::size_t(at / 64) < bits.size() && (bits[std::size_t(at / 64)] >> (at % 64) & 1) != 0;
}

/// The first of the run whose bit is `wanted`; -1: none.
std::int64_t findBit(const Bits& bits, std::int64_t first, std::int64_t count, std::int64_t stride, bool wanted) {
  for (std::int64_t i = 0; i < count;) {
    const std::int64_t at = first + i * stride;
    if (stride == 1 && at % 64 == 0 && count - i >= 64 && at >= 0 && std::size_t(at / 64) < bits.size()) {
      const std::uint64_t word = bits[std::size_t(at / 64)];
      if (word == (wanted ? 0 : ~std::uint64_t{0})) {
        i += 64;
        continue;
      }
    }
    if (hasBit(bits, at) == wanted) return at;
    ++i;
  }
  return -1;
}

bool draw(const ElementBox& box, Bits& bits) {
  if (!isBounded(box) || runCount(box) > mostRuns) return false;
  if (box.isEmpty()) return true;
  const std::int64_t last = box.last().bits();
  if (box.first.bits() < 0 || last >= mostBits) return false;
  if (bits.size() < std::size_t(last / 64 + 1)) bits.resize(std::size_t(last / 64 + 1));
  return eachRun(box, box.first.bits(), 0, [&](std::int64_t first, std::int64_t count, std::int64_t stride) {
    if (stride == 1)
      setRun(bits, first, count);
    else
      for (std::int64_t i = 0; i < count; ++i) setRun(bits, first + i * stride, 1);
    return true;
  });
}

/// The first element of the box whose bit is `wanted`.
std::optional<std::int64_t> findIn(const ElementBox& box, const Bits& bits, bool wanted) {
  std::optional<std::int64_t> found;
  eachRun(box, box.first.bits(), 0, [&](std::int64_t first, std::int64_t count, std::int64_t stride) {
    const std::int64_t at = findBit(bits, first, count, stride, wanted);
    if (at >= 0) found = at;
    return at < 0;
  });
  return found;
}

/// `a` and `b` beside each other along one step: both as one box.
std::optional<ElementBox> joined(const ElementBox& a, const ElementBox& b) {
  const SymInt distance = b.first - a.first;
  const auto steps = [](const ElementBox& box, SymInt stride) {
    for (const BoxStep& each : box.steps)
      if (isSameSize(each.stride, stride)) return each.count;
    return SymInt(1);
  };
  std::vector<SymInt> strides;
  for (const ElementBox* box : {&a, &b})
    for (const BoxStep& each : box->steps)
      if (std::ranges::none_of(strides, [&](SymInt known) { return isSameSize(known, each.stride); }))
        strides.push_back(each.stride);
  // A single element, or a row, continues along any stride.
  if (a.steps.empty() && b.steps.empty() && isAlways(SymRelation::Gt, distance, 0)) strides.push_back(distance);
  if (a.steps.size() == b.steps.size() &&
      std::ranges::all_of(a.steps,
                          [&](const BoxStep& each) { return isSameSize(steps(b, each.stride), each.count); }) &&
      isAlways(SymRelation::Gt, distance, 0) &&
      std::ranges::none_of(strides, [&](SymInt each) { return isSameSize(each, distance); }) && !a.steps.empty())
    strides.push_back(distance);
  const SymInt* along = nullptr;
  for (const SymInt& stride : strides) {
    if (isSameSize(steps(a, stride), steps(b, stride)) && !isSameSize(distance, stride * steps(a, stride))) continue;
    if (along != nullptr) {
      if (!isSameSize(steps(a, stride), steps(b, stride))) return std::nullopt;
      continue;
    }
    if (isSameSize(distance, stride * steps(a, stride)))
      along = &stride;
    else
      return std::nullopt;
  }
  if (along == nullptr) return std::nullopt;
  ElementBox both{a.first, {}};
  for (const SymInt& stride : strides) {
    const SymInt count = &stride == along ? steps(a, stride) + steps(b, stride) : steps(a, stride);
    both.steps.push_back({stride, count});
  }
  both.normalise();
  return both;
}

}  // namespace

std::optional<bool> alwaysHolds(SymRelation relation, SymInt a, SymInt b) {
  if (!a.isSymbolic() && !b.isSymbolic()) {
    const std::int64_t x = a.bits(), y = b.bits();
    switch (relation) {
      case SymRelation::Eq:
        return x == y;
      case SymRelation::Ne:
        return x != y;
      case SymRelation::Lt:
        return x < y;
      case SymRelation::Le:
        return x <= y;
      case SymRelation::Gt:
        return x > y;
      case SymRelation::Ge:
        return x >= y;
    }
  }
  if (a.isIdentical(b))
    return relation == SymRelation::Eq || relation == SymRelation::Le || relation == SymRelation::Ge;
  ShapeEnv* const env = ShapeEnv::current();
  if (env == nullptr) return std::nullopt;
  try {
    const SymInt difference = env->intern(env->expression(a - b).expanded());
    if (!difference.isSymbolic()) return alwaysHolds(relation, difference, 0);
    return env->known(relation, difference, 0);
  } catch (const SymbolicFailure&) {
    return std::nullopt;  // it grew too large
  }
}

std::string sizeText(SymInt value) {
  if (!value.isSymbolic()) return std::to_string(value.bits());
  ShapeEnv* const env = ShapeEnv::current();
  return env == nullptr ? std::string("?") : env->text(value);
}

ElementBox ElementBox::interval(SymInt first, SymInt count) {
  ElementBox box{first, {{1, count}}};
  box.normalise();
  return box;
}

ElementBox ElementBox::strided(const std::vector<SymInt>& sizes, const std::vector<SymInt>& strides, SymInt offset) {
  ElementBox box{offset, {}};
  for (std::size_t i = 0; i < sizes.size() && i < strides.size(); ++i) box.steps.push_back({strides[i], sizes[i]});
  box.normalise();
  return box;
}

void ElementBox::normalise() {
  for (BoxStep& step : steps)
    if (isAlways(SymRelation::Lt, step.stride, 0)) {
      first += step.stride * (step.count - 1);
      step.stride = -step.stride;
    }
  std::erase_if(steps, [](const BoxStep& step) { return isSameSize(step.count, 1) || isSameSize(step.stride, 0); });
  // Insertion sort: comparisons may be undecided, which keeps the order.
  for (std::size_t i = 1; i < steps.size(); ++i)
    for (std::size_t j = i; j > 0 && isAlways(SymRelation::Gt, steps[j].stride, steps[j - 1].stride); --j)
      std::swap(steps[j], steps[j - 1]);
  for (std::size_t i = steps.size(); i-- > 1;)
    if (isSameSize(steps[i - 1].stride, steps[i].stride * steps[i].count)) {
      steps[i - 1] = {steps[i].stride, steps[i].count * steps[i - 1].count};
      steps.erase(steps.begin() + std::ptrdiff_t(i));
    }
}

SymInt ElementBox::last() const {
  SymInt end = first;
  for (const BoxStep& step : steps) end += step.stride * (step.count - 1);
  return end;
}

SymInt ElementBox::count() const {
  SymInt all = 1;
  for (const BoxStep& step : steps) all *= step.count;
  return all;
}

bool ElementBox::isEmpty() const {
  return std::ranges::any_of(steps, [](const BoxStep& step) { return isAlways(SymRelation::Le, step.count, 0); });
}

bool ElementBox::isInterval() const { return steps.empty() || (steps.size() == 1 && isSameSize(steps[0].stride, 1)); }

bool ElementBox::isConcrete() const {
  return !first.isSymbolic() && std::ranges::none_of(steps, [](const BoxStep& step) {
    return step.stride.isSymbolic() || step.count.isSymbolic();
  });
}

std::optional<bool> ElementBox::isInjective() const {
  SymInt reach = 0;  // of the steps inside
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (!isAlways(SymRelation::Gt, steps[i].stride, reach)) {
      if (!isBounded(*this) || count().bits() > (1 << 24) || (last() - first).bits() >= mostBits) return std::nullopt;
      Bits bits(std::size_t((last().bits() - first.bits()) / 64 + 1));
      return eachRun(*this, 0, 0, [&](std::int64_t from, std::int64_t number, std::int64_t stride) {
        for (std::int64_t k = 0; k < number; ++k) {
          if (hasBit(bits, from + k * stride)) return false;
          setRun(bits, from + k * stride, 1);
        }
        return true;
      });
    }
    reach += steps[i].stride * (steps[i].count - 1);
  }
  return true;
}

bool ElementBox::hasWideGaps() const {
  SymInt needed = 1;
  for (std::size_t i = steps.size(); i-- > 0;) {
    const SymInt padding = isAlways(SymRelation::Gt, needed, 1024) ? 128 : 16;
    if (isAlways(SymRelation::Ge, steps[i].stride, needed + padding)) return true;
    needed = steps[i].stride * steps[i].count;
  }
  return false;
}

ElementBox ElementBox::shifted(SymInt by) const {
  ElementBox box = *this;
  box.first += by;
  return box;
}

bool isWithin(const ElementBox& inner, const ElementBox& outer) {
  if (!isAlways(SymRelation::Ge, inner.first, outer.first)) return false;
  if (outer.isInterval()) return isAlways(SymRelation::Le, inner.last(), outer.last());
  SymInt distance = inner.first - outer.first;
  std::vector<BoxStep> left = inner.steps;
  for (const BoxStep& step : outer.steps) {
    SymInt count = 1;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (isSameSize(left[i].stride, step.stride)) {
        count = left[i].count;
        left.erase(left.begin() + std::ptrdiff_t(i));
        break;
      }
    SymInt skipped = 0;
    if (!isSameSize(distance, 0)) {
      skipped = floorDiv(distance, step.stride);
      distance -= skipped * step.stride;
    }
    if (!isAlways(SymRelation::Le, skipped + count, step.count)) return false;
  }
  return left.empty() && isSameSize(distance, 0);
}

void ElementSet::add(const ElementBox& box) {
  if (m_hasAll || box.isEmpty()) return;
  for (const ElementBox& each : m_boxes)
    if (isWithin(box, each)) return;
  if (m_boxes.size() >= mostBoxes) return blur();
  ElementBox grown = box;
  for (bool hasGrown = true; hasGrown;) {
    hasGrown = false;
    for (std::size_t i = 0; i < m_boxes.size() && m_boxes.size() < 64; ++i) {
      auto both = joined(m_boxes[i], grown);
      if (!both) both = joined(grown, m_boxes[i]);
      if (!both && isWithin(m_boxes[i], grown)) both = grown;
      if (!both) continue;
      m_boxes.erase(m_boxes.begin() + std::ptrdiff_t(i));
      if (i < m_drawn) --m_drawn;
      grown = std::move(*both);
      hasGrown = true;
      break;
    }
  }
  m_boxes.push_back(std::move(grown));
}

const Bits* ElementSet::bits(std::int64_t upTo) const {
  if (upTo >= mostBits) return nullptr;
  for (; m_drawn < m_boxes.size(); ++m_drawn)
    if (!draw(m_boxes[m_drawn], m_bits)) return nullptr;
  return &m_bits;
}

ElementSet::Answer ElementSet::covers(const ElementBox& box) const {
  if (m_hasAll || box.isEmpty()) return {true, 0};
  for (const ElementBox& each : m_boxes)
    if (isWithin(box, each)) return {true, 0};
  if (m_isBlurred) return {std::nullopt, 0};
  if (m_boxes.empty()) {
    if (box.isConcrete()) return {false, box.first.bits()};
    return {std::nullopt, 0};
  }
  if (!isBounded(box) || runCount(box) > mostRuns) return {std::nullopt, 0};
  const Bits* const drawn = bits(box.last().bits());
  if (drawn == nullptr) return {std::nullopt, 0};
  const auto missing = findIn(box, *drawn, false);
  return {!missing, missing.value_or(0)};
}

ElementSet::Answer ElementSet::meets(const ElementBox& box) const {
  if (box.isEmpty()) return {false, 0};
  if (m_hasAll) return {true, box.first.isSymbolic() ? 0 : box.first.bits()};
  Answer answer{false, 0};
  for (const ElementBox& each : m_boxes) {
    answer = boxesMeet(each, box);
    if (answer.holds == true) return answer;
    if (!answer.holds) break;
  }
  if (m_isBlurred) return {std::nullopt, 0};
  return answer;
}

ElementSet::Answer boxesMeet(const ElementBox& a, const ElementBox& b) {
  if (a.isEmpty() || b.isEmpty()) return {false, 0};
  if (isAlways(SymRelation::Lt, a.last(), b.first) || isAlways(SymRelation::Lt, b.last(), a.first)) return {false, 0};
  if (a.isInterval() && b.isInterval()) {
    if (a.isConcrete() && b.isConcrete()) return {true, std::max(a.first.bits(), b.first.bits())};
    if (isAlways(SymRelation::Le, a.first, b.last()) && isAlways(SymRelation::Le, b.first, a.last())) return {true, 0};
    return {std::nullopt, 0};
  }
  if (isWithin(a, b) || isWithin(b, a)) return {true, 0};
  if (!isBounded(a) || !isBounded(b) || runCount(b) > mostRuns) return {std::nullopt, 0};
  Bits bits;
  if (!draw(a, bits)) return {std::nullopt, 0};
  const auto common = findIn(b, bits, true);
  return {common.has_value(), common.value_or(0)};
}

}  // namespace kerf::inline audit
