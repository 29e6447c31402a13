// FlatGraph: boxes and links without nesting, and the plan that says where they go. Plain data, no Qt.
#pragma once

#include <cstdint>
#include <stop_token>
#include <unordered_map>
#include <vector>

namespace kerf::ui::inline layout {

struct Spot {
  double x = 0, y = 0;
};

struct Extent {
  double left = 0, top = 0, width = 0, height = 0;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
  double middle() const { return left + width / 2; }
};

/// First and Last are the entries and exits of a frame: alone on the first and the last layer.
enum class Pinned { Free, First, Last };

struct FlatItem {
  double width = 0, height = 0;
  std::uint64_t key = 0;  ///< who it is in the next layout; 0: nobody
  Pinned pinned = Pinned::Free;
};

/// Drawn from the bottom of one item to the top of another; `fromX` and `toX` count from their left edges.
struct FlatLink {
  int from = 0, to = 0;
  double fromX = 0, toX = 0;
};

struct FlatSpacing {
  double layers = 46, items = 24, lanes = 12;
  double mostGrowth = 70;  ///< a gap where links go far sideways is so much higher at most
};

/// Where things were in the layout before; the new one keeps to it as far as the new graph lets it.
struct PlanMemory {
  struct Was {
    double middle = 0, top = 0;
    int layer = 0, component = 0;
  };
  std::unordered_map<std::uint64_t, Was> items;
  bool still = false;  ///< layers and heights are kept too: holes where something went away stay holes
  /// Null for items that nobody knows.
  const Was* find(std::uint64_t key) const {
    const auto found = key == 0 ? items.end() : items.find(key);
    return found == items.end() ? nullptr : &found->second;
  }
};

struct FlatGraph {
  std::vector<FlatItem> items;
  std::vector<FlatLink> links;
  FlatSpacing spacing;
  std::stop_token stop = {};  ///< asked between steps; nothing of a stopped plan may be used
};

struct FlatPlan {
  std::vector<Extent> items;
  std::vector<int> layers;                ///< by item
  std::vector<std::vector<Spot>> routes;  ///< by link: a cubic Bézier of 3k + 1 points; empty: too long to draw
  double width = 0, height = 0;
  Spot origin;  ///< of what was moved so that it begins at 0, 0
  PlanMemory memory;
};

/// An order in which links go forward; links that close a cycle are left to point backward.
std::vector<int> linkOrder(const FlatGraph& graph);

/// Places `graph` in layers from top to bottom, links forward, none behind an item. Near linear in items, links and
/// layers that links pass; the same for the same input. With `before`, known items keep layer and place.
FlatPlan planFlat(const FlatGraph& graph, const PlanMemory* before = nullptr);

}  // namespace kerf::ui::inline layout
