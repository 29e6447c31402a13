// ShorterPaths: breadth-first searches along uses.
#include "minifier/core/shorter_paths.h"

#include <algorithm>
#include <unordered_map>

namespace kerf::inline minifier::inline core {

ShorterPaths::ShorterPaths(const Graph& graph, const std::vector<CallUnit>& units) : m_users(unitUsers(graph, units)) {}

std::optional<UnitSet> ShorterPaths::between(std::size_t from, std::size_t to, std::size_t limit) const {
  std::unordered_map<std::size_t, std::size_t> cameFrom{{from, from}};
  UnitSet edge{from};
  for (std::size_t steps = 0; steps < limit && !edge.empty(); ++steps) {  // a path of `steps` units between the two
    UnitSet next;
    for (const std::size_t unit : edge) {
      for (const std::size_t user : m_users[unit]) {
        if (user > to || !cameFrom.emplace(user, unit).second) continue;
        next.push_back(user);
      }
    }
    if (cameFrom.contains(to)) {
      UnitSet path;
      for (std::size_t unit = cameFrom.at(to); unit != from; unit = cameFrom.at(unit)) path.push_back(unit);
      std::ranges::reverse(path);
      return path;
    }
    edge = std::move(next);
  }
  return std::nullopt;
}

std::vector<UnitSet> ShorterPaths::around(const UnitSet& set) const {
  std::vector<UnitSet> sets;
  for (std::size_t width = set.size(); width > 2; width = width * 3 / 4) {  // both ends are kept
    for (std::size_t begin = 0; begin + width <= set.size(); begin += std::max<std::size_t>(1, width / 4)) {
      const std::size_t last = begin + width - 1;
      const auto path = between(set[begin], set[last], width - 2);
      if (!path) continue;
      UnitSet shorter(set.begin(), set.begin() + std::ptrdiff_t(begin) + 1);
      shorter.insert(shorter.end(), path->begin(), path->end());
      shorter.insert(shorter.end(), set.begin() + std::ptrdiff_t(last), set.end());
      std::ranges::sort(shorter);
      shorter.erase(std::ranges::unique(shorter).begin(), shorter.end());
      if (shorter.size() < set.size() && std::ranges::find(sets, shorter) == sets.end())
        sets.push_back(std::move(shorter));
    }
  }
  return sets;
}

}  // namespace kerf::inline minifier::inline core
