// NestedDiagram: cards in frames in frames: a frame is laid out on its own and is one box in the frame around it, so that
// opening it moves only what lies beside and below it.
#pragma once

#include <map>
#include <vector>

#include "ui/layout/flat_graph.h"

namespace kerf::ui::inline layout {

struct NestedCard {
  double width = 0, height = 0;
  int frame = 0;
  std::uint64_t key = 0;
};

/// frames[0] is the canvas; a frame comes after the one around it.
struct NestedFrame {
  int parent = -1;
  std::uint64_t key = 0;
};

struct NestedLink {
  int from = 0, to = 0;  ///< cards
};

struct FramePadding {
  double top = 60, side = 20, bottom = 16;  ///< above: the title, and below it the badges of cards, from afar too
};

struct NestedDiagram {
  std::vector<NestedCard> cards;
  std::vector<NestedFrame> frames;
  std::vector<NestedLink> links;
  FlatSpacing spacing;
  FramePadding padding;
  std::stop_token stop = {};  ///< as in FlatGraph
};

/// By the key of the frame.
using NestedMemory = std::map<std::uint64_t, PlanMemory>;

struct NestedPlan {
  std::vector<Extent> cards, frames;
  std::vector<std::vector<Spot>> routes;  ///< by link, as in FlatPlan
  NestedMemory memory;
};

/// With `still`, what was there before stays exactly where it was as far as it can.
NestedPlan planNested(const NestedDiagram& graph, const NestedMemory* before = nullptr, bool still = false);

}  // namespace kerf::ui::inline layout
