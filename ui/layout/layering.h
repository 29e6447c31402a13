// Layering: which layer each item is on, and the lanes by which links pass the layers between.
#pragma once

#include <vector>

#include "ui/layout/flat_graph.h"

namespace kerf::ui::inline layout {

/// Items, and behind them the lanes: one for each layer that the links of one item pass, shared by all of them.
struct LayerGraph {
  struct Vertex {
    int item = -1;  ///< -1: a lane
    int layer = 0;
    double width = 0;
    std::uint64_t key = 0;  ///< as FlatItem::key
  };
  struct Near {
    int vertex = 0;
    double fromX = 0, toX = 0;  ///< offsets of the link's ends from the middles of the vertices
    double weight = 1;
  };
  std::vector<Vertex> vertices;
  std::vector<std::vector<int>> layers;  ///< vertices from left to right
  std::vector<std::vector<Near>> above, below;
  std::vector<std::vector<int>> paths;  ///< by link: its vertices from top to bottom; empty: too long to draw
};

/// Longest path, tightened so that what feeds one user sits above it; wide layers are wrapped.
std::vector<int> assignLayers(const FlatGraph& graph, const PlanMemory* before);
LayerGraph withLanes(const FlatGraph& graph, const std::vector<int>& layers);

/// Fewer crossings by medians and exchanges of neighbours, a bounded number of times.
void orderLayers(LayerGraph& graph, const PlanMemory* before, const std::stop_token& stop = {});
/// Crossings between all neighbouring layers.
std::int64_t countCrossings(const LayerGraph& graph);

/// Middles of the vertices: near their neighbours, in order and apart.
std::vector<double> placeAcross(const LayerGraph& graph, const FlatGraph& flat, const PlanMemory* before);

}  // namespace kerf::ui::inline layout
