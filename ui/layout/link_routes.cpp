#include "ui/layout/link_routes.h"

#include <algorithm>
#include <cmath>

namespace kerf::ui::inline layout {
namespace {

constexpr double same = 0.5;  ///< ends nearer than this are one

class Router {
 public:
  Router(const LayerGraph& layers, const FlatGraph& graph, const std::vector<double>& middles,
         const std::vector<LayerBand>& bands)
      : m_layers(layers), m_graph(graph), m_middles(middles), m_bands(bands) {}

  std::vector<Spot> route(const FlatLink& link, const std::vector<int>& path) const {
    if (path.empty()) return {};
    const bool down = path.front() == link.from;
    const auto &upper = m_layers.vertices[std::size_t(path.front())],
               &lower = m_layers.vertices[std::size_t(path.back())];
    const double upperX = m_middles[std::size_t(path.front())] - upper.width / 2 + (down ? link.fromX : link.toX);
    const double lowerX = m_middles[std::size_t(path.back())] - lower.width / 2 + (down ? link.toX : link.fromX);
    std::vector<Spot> route{{upperX, bottomOf(path.front())}};
    lineTo(route, {upperX, bandOf(path.front()).bottom});
    for (std::size_t i = 1; i + 1 < path.size(); ++i) {
      const double x = m_middles[std::size_t(path[i])];
      bendTo(route, {x, bandOf(path[i]).top});
      lineTo(route, {x, bandOf(path[i]).bottom});
    }
    bendTo(route, {lowerX, bandOf(path.back()).top});
    lineTo(route, {lowerX, topOf(path.back())});
    if (!down) std::ranges::reverse(route);
    return route;
  }

 private:
  const LayerBand& bandOf(int vertex) const {
    return m_bands[std::size_t(m_layers.vertices[std::size_t(vertex)].layer)];
  }
  const FlatItem& itemOf(int vertex) const {
    return m_graph.items[std::size_t(m_layers.vertices[std::size_t(vertex)].item)];
  }
  double topOf(int vertex) const {
    const auto& item = itemOf(vertex);
    return item.pinned == Pinned::Last ? bandOf(vertex).bottom - item.height : bandOf(vertex).top;
  }
  double bottomOf(int vertex) const { return topOf(vertex) + itemOf(vertex).height; }

  const LayerGraph& m_layers;
  const FlatGraph& m_graph;
  const std::vector<double>& m_middles;
  const std::vector<LayerBand>& m_bands;
};

}  // namespace

void lineTo(std::vector<Spot>& route, Spot end) {
  const Spot start = route.back();
  if (std::abs(end.y - start.y) < same && std::abs(end.x - start.x) < same) return;
  // Two straight pieces above each other are one.
  const auto size = route.size();
  const bool onward = size >= 4 && route[size - 4].x == end.x && route[size - 3].x == end.x &&
                      route[size - 2].x == end.x && start.x == end.x;
  const Spot from = onward ? route[size - 4] : start;
  if (onward) route.resize(size - 3);
  const double dx = (end.x - from.x) / 3, dy = (end.y - from.y) / 3;
  route.push_back({from.x + dx, from.y + dy});
  route.push_back({end.x - dx, end.y - dy});
  route.push_back(end);
}

void bendTo(std::vector<Spot>& route, Spot end) {
  const Spot start = route.back();
  if (std::abs(end.x - start.x) < same) return lineTo(route, {start.x, end.y});
  const double bend = (end.y - start.y) * 0.5;
  route.push_back({start.x, start.y + bend});
  route.push_back({end.x, end.y - bend});
  route.push_back(end);
}

std::vector<std::vector<Spot>> routeLinks(const LayerGraph& layers, const FlatGraph& graph,
                                          const std::vector<double>& middles, const std::vector<LayerBand>& bands) {
  const Router router(layers, graph, middles, bands);
  std::vector<std::vector<Spot>> routes;
  routes.reserve(graph.links.size());
  for (std::size_t i = 0; i < graph.links.size(); ++i) routes.push_back(router.route(graph.links[i], layers.paths[i]));
  return routes;
}

}  // namespace kerf::ui::inline layout
