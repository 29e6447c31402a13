#include "engine/lower/group_levels.h"

#include <algorithm>

namespace kerf::inline lower {

void GroupLevels::update(std::span<const FusionGroup> groups, int changed) {
  m_level.resize(groups.size(), 0);
  m_users.resize(groups.size());
  m_known.resize(groups.size(), 0);
  m_seen.resize(groups.size(), 0);
  const std::vector<int>& dependencies = groups[std::size_t(changed)].dependencies;
  std::size_t& known = m_known[std::size_t(changed)];
  for (; known < dependencies.size(); ++known) m_users[std::size_t(dependencies[known])].push_back(changed);
  raise(groups, changed);
}

/// A group that stands too low moves up, and what depends on it.
void GroupLevels::raise(std::span<const FusionGroup> groups, int from) {
  std::vector<int> stack{from};
  while (!stack.empty()) {
    const int g = stack.back();
    stack.pop_back();
    int needed = 0;
    for (const int d : groups[std::size_t(g)].dependencies) needed = std::max(needed, m_level[std::size_t(d)] + 1);
    if (needed <= m_level[std::size_t(g)]) continue;
    m_level[std::size_t(g)] = needed;
    std::ranges::copy(m_users[std::size_t(g)], std::back_inserter(stack));
  }
}

bool GroupLevels::dependThroughOthers(std::span<const FusionGroup> groups, std::span<const int> dependencies, int g) {
  ++m_search;
  const int level = m_level[std::size_t(g)];
  std::vector<int> stack;
  const auto visit = [&](int d) {
    if (m_seen[std::size_t(d)] == m_search || (d != g && m_level[std::size_t(d)] <= level)) return;
    m_seen[std::size_t(d)] = m_search;
    stack.push_back(d);
  };
  for (const int d : dependencies)
    if (d != g) visit(d);
  while (!stack.empty()) {
    const int at = stack.back();
    stack.pop_back();
    if (at == g) return true;
    ++m_looked;
    for (const int d : groups[std::size_t(at)].dependencies) visit(d);
  }
  return false;
}

}  // namespace kerf::inline lower
