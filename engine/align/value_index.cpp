#include "engine/align/value_index.h"

#include <cmath>

#include "engine/align/value_gap.h"

namespace kerf::inline align {

namespace {

/// Algorithms of convolutions, some of them in TF32, are chosen by layout and machine: what comes after is that far apart.
constexpr double slackOfConvolutions = 1e-4;
constexpr std::size_t mostFound = 64;  ///< steps with one value: constants may be given thousands of times

/// Of a sum of magnitudes: 1 where it is 0, 2 where it is infinite, 4 where it is NaN, else 8.
unsigned kindOfSum(double l1) { return l1 == 0 ? 1 : std::isinf(l1) ? 2 : std::isnan(l1) ? 4 : 8; }

void addOnce(std::vector<std::size_t>& list, std::size_t step) {
  if (list.empty() || list.back() != step) list.push_back(step);
}

}  // namespace

bool tellsApart(const StepValue& value) {
  if (!value.shaped || value.elements() < 2) return false;
  if (value.l1) return *value.l1 != 0 && std::isfinite(*value.l1);
  return namesValue(value.hash);
}

ValueIndex::ValueIndex(const std::vector<RunStep>& steps) : m_steps(steps) {
  if (std::ranges::any_of(steps, [](const RunStep& step) { return step.op == "aten.convolution"; }))
    m_leastSlack = slackOfConvolutions;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const auto* values : {&steps[i].outputs, &steps[i].inputs})
      for (const StepValue& value : *values)
        if (value.l1) m_kinds[value.elements()] |= kindOfSum(*value.l1);
    for (const StepValue& value : steps[i].outputs) {
      if (!tellsApart(value)) continue;
      if (namesValue(value.hash)) addOnce(m_byHash[value.hash], i);
      if (namesValue(value.hash)) m_anyByHash.emplace(value.hash, &value);
      if (value.l1) m_given[value.elements()].push_back({*value.l1, i, &value});
      if (value.l1) m_any[value.elements()].push_back({*value.l1, i, &value});
    }
    for (const StepValue& value : steps[i].inputs) {
      if (tellsApart(value) && namesValue(value.hash)) m_anyByHash.emplace(value.hash, &value);
      if (tellsApart(value) && value.l1) m_any[value.elements()].push_back({*value.l1, i, &value});
      if (!value.hash.empty()) addOnce(m_usersByHash[value.hash], i);
      if (value.id >= 0) addOnce(m_usersById[value.id], i);
    }
  }
  for (Sums* all : {&m_given, &m_any})
    for (auto& [size, sums] : *all) std::ranges::stable_sort(sums, {}, &Sum::l1);
}

std::vector<ValueIndex::Sum> ValueIndex::near(const Sums& all, const StepValue& value) const {
  std::vector<Sum> found;
  const auto sums = all.find(value.elements());
  if (!value.l1 || sums == all.end()) return found;
  const double slack = *value.l1 * std::max(roundingOf(value.dtype), m_leastSlack);
  const auto begin = std::ranges::lower_bound(sums->second, *value.l1 - slack, {}, &Sum::l1);
  for (auto at = begin; at != sums->second.end() && at->l1 <= *value.l1 + slack && found.size() < mostFound; ++at)
    found.push_back(*at);
  std::ranges::stable_sort(found, {}, [&](const Sum& sum) { return std::abs(sum.l1 - *value.l1); });
  return found;
}

const StepValue* ValueIndex::nearest(const StepValue& value) const {
  if (!tellsApart(value)) return nullptr;
  if (namesValue(value.hash))
    if (const auto equal = m_anyByHash.find(value.hash); equal != m_anyByHash.end()) return equal->second;
  const auto found = near(m_any, value);
  return found.empty() ? nullptr : found.front().value;
}

bool ValueIndex::hasAlike(const StepValue& value) const {
  const auto kinds = m_kinds.find(value.elements());
  return value.l1 && kinds != m_kinds.end() && (kinds->second & kindOfSum(*value.l1)) != 0;
}

std::vector<std::size_t> ValueIndex::giving(const StepValue& value) const {
  std::vector<std::size_t> found;
  if (!tellsApart(value)) return found;
  if (const auto equal = m_byHash.find(value.hash); namesValue(value.hash) && equal != m_byHash.end())
    found = equal->second;
  for (const Sum& sum : near(m_given, value))
    if (std::ranges::find(found, sum.step) == found.end()) found.push_back(sum.step);
  if (found.size() > mostFound) found.resize(mostFound);
  return found;
}

bool ValueIndex::isTaken(std::size_t step, const StepValue& result) const {
  const bool byId = result.id >= 0 && !m_usersById.empty(), byHash = !result.hash.empty() && !m_usersByHash.empty();
  if (result.perhapsTaken || (!byId && !byHash)) return true;
  const auto later = [step](const auto& users, const auto& key) {
    const auto found = users.find(key);
    return found != users.end() && found->second.back() > step;
  };
  return (byId && later(m_usersById, result.id)) || (byHash && later(m_usersByHash, std::string_view(result.hash)));
}

std::vector<std::size_t> ValueIndex::taking(std::size_t step) const {
  std::vector<std::size_t> users;
  const auto add = [&](const std::vector<std::size_t>& list) {
    for (auto at = std::ranges::upper_bound(list, step); at != list.end() && users.size() < mostFound; ++at)
      users.push_back(*at);
  };
  for (const StepValue& value : m_steps[step].outputs) {
    if (value.id >= 0) {
      if (const auto found = m_usersById.find(value.id); found != m_usersById.end()) add(found->second);
    }
    if (!value.hash.empty() && tellsApart(value))
      if (const auto found = m_usersByHash.find(value.hash); found != m_usersByHash.end()) add(found->second);
  }
  return users;
}

}  // namespace kerf::inline align
