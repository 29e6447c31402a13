// Link routes: curves between layers, straight lines through the lanes beside items.
#pragma once

#include <vector>

#include "ui/layout/layering.h"

namespace kerf::ui::inline layout {

struct LayerBand {
  double top = 0, bottom = 0;
};

/// A cubic Bézier of 3k + 1 points for each link, from its source to its target. It bends between the layers only, so
/// that no link passes behind an item.
std::vector<std::vector<Spot>> routeLinks(const LayerGraph& layers, const FlatGraph& graph,
                                          const std::vector<double>& middles, const std::vector<LayerBand>& bands);

/// Goes on from the last spot of `route` in a straight line, or in a curve that begins and ends upright.
void lineTo(std::vector<Spot>& route, Spot end);
void bendTo(std::vector<Spot>& route, Spot end);

}  // namespace kerf::ui::inline layout
