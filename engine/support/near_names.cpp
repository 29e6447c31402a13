#include "engine/support/near_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kerf::inline support {

namespace {

constexpr std::size_t shownNames = 3, shortestPart = 4;

bool isPart(std::string_view one, std::string_view other) {
  if (one.size() > other.size()) std::swap(one, other);
  return one.size() >= shortestPart && other.find(one) != std::string_view::npos;
}

}  // namespace

std::size_t editDistance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < other.size(); ++j) {
      const auto changed = corner + (one[i] == other[j] ? 0 : 1);
      corner = std::exchange(row[j + 1], std::min({changed, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

std::vector<std::string> nearNames(std::string_view word, std::span<const std::string> names) {
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : names) {
    const std::size_t distance = editDistance(word, name);
    if (3 * distance <= word.size() || isPart(word, name)) near.emplace_back(distance, name);
  }
  std::ranges::stable_sort(near, {}, [](const auto& row) { return row.first; });
  near.resize(std::min(near.size(), shownNames));
  std::vector<std::string> nearest;
  for (auto& [distance, name] : near) nearest.push_back(std::move(name));
  return nearest;
}

}  // namespace kerf::inline support
