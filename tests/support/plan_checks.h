// What must hold of any layout: nothing lies over anything else.
#pragma once

#include <cstddef>
#include <vector>

#include "ui/layout/flat_graph.h"

namespace kerf::testing {

/// Pairs of items that lie over each other.
inline int overlaps(const std::vector<ui::Extent>& items) {
  constexpr double touching = 0.01;
  int count = 0;
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t k = i + 1; k < items.size(); ++k) {
      const auto &a = items[i], &b = items[k];
      count += a.left + touching < b.right() && b.left + touching < a.right() && a.top + touching < b.bottom() &&
               b.top + touching < a.bottom();
    }
  return count;
}

/// Points of the routes, nine on each curve, that lie inside an item.
inline int behindItems(const std::vector<ui::Extent>& items, const std::vector<std::vector<ui::Spot>>& routes) {
  constexpr int steps = 8;
  constexpr double touching = 0.01;
  int count = 0;
  const auto inside = [&](const ui::Spot& spot) {
    for (const auto& item : items)
      if (spot.x > item.left + touching && spot.x < item.right() - touching && spot.y > item.top + touching &&
          spot.y < item.bottom() - touching)
        return 1;
    return 0;
  };
  for (const auto& route : routes)
    for (std::size_t i = 0; i + 3 < route.size(); i += 3)
      for (int step = 0; step <= steps; ++step) {
        const double t = double(step) / steps, u = 1 - t;
        const double a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
        count += inside({a * route[i].x + b * route[i + 1].x + c * route[i + 2].x + d * route[i + 3].x,
                         a * route[i].y + b * route[i + 1].y + c * route[i + 2].y + d * route[i + 3].y});
      }
  return count;
}

}  // namespace kerf::testing
