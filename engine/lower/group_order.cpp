#include "engine/lower/group_order.h"

#include <algorithm>
#include <numeric>

namespace kerf::inline lower {
namespace {

void visit(std::span<const FusionGroup> groups, int root, std::vector<bool>& done, std::vector<int>& order) {
  std::vector<std::pair<int, std::size_t>> stack;
  if (!done[std::size_t(root)]) stack.emplace_back(root, 0);
  while (!stack.empty()) {
    auto& [g, next] = stack.back();
    const auto& dependencies = groups[std::size_t(g)].dependencies;
    if (next < dependencies.size()) {
      const int d = dependencies[next++];
      if (!done[std::size_t(d)]) stack.emplace_back(d, 0);
      continue;
    }
    if (!done[std::size_t(g)]) order.push_back(g);
    done[std::size_t(g)] = true;
    stack.pop_back();
  }
}

}  // namespace

std::vector<int> producersFirst(std::span<const FusionGroup> groups) {
  std::vector<int> order;
  std::vector<bool> done(groups.size(), false);
  std::vector<int> roots(groups.size());
  std::iota(roots.begin(), roots.end(), 0);
  std::ranges::sort(roots, {}, [&](int g) { return std::pair(groups[std::size_t(g)].segment, g); });
  for (const int root : roots) visit(groups, root, done, order);
  return order;
}

}  // namespace kerf::inline lower
