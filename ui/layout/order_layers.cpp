#include <algorithm>

#include "ui/layout/layering.h"

namespace kerf::ui::inline layout {
namespace {

using Layers = std::vector<std::vector<int>>;

class Ordering {
 public:
  explicit Ordering(LayerGraph& graph) : m_graph(graph), m_place(graph.vertices.size()), m_key(graph.vertices.size()) {
    for (const auto& layer : graph.layers) number(layer);
  }

  /// Puts every vertex of a layer at the median of its neighbours on the layer before; those without keep their place.
  void sweep(bool down) {
    const int count = int(m_graph.layers.size());
    for (int i = 1; i < count; ++i) {
      auto& layer = m_graph.layers[std::size_t(down ? i : count - 1 - i)];
      for (const int vertex : layer) m_key[std::size_t(vertex)] = median(vertex, down);
      std::ranges::stable_sort(layer, {}, [this](int vertex) { return m_key[std::size_t(vertex)]; });
      number(layer);
    }
  }

  /// Exchanges neighbours of a layer where that saves crossings; true if it did.
  bool transpose() {
    bool better = false;
    for (auto& layer : m_graph.layers)
      for (std::size_t i = 0; i + 1 < layer.size(); ++i) {
        const int left = layer[i], right = layer[i + 1];
        if (crossings(left, right) <= crossings(right, left)) continue;
        std::swap(layer[i], layer[i + 1]);
        std::swap(m_place[std::size_t(left)], m_place[std::size_t(right)]);
        better = true;
      }
    return better;
  }

 private:
  void number(const std::vector<int>& layer) {
    for (std::size_t i = 0; i < layer.size(); ++i) m_place[std::size_t(layer[i])] = int(i);
  }

  double median(int vertex, bool down) {
    const auto& near = (down ? m_graph.above : m_graph.below)[std::size_t(vertex)];
    if (near.empty()) return m_place[std::size_t(vertex)];
    m_places.clear();
    // The offset of a link's end breaks ties between what hangs on one wide frame.
    for (const auto& other : near)
      m_places.push_back(m_place[std::size_t(other.vertex)] +
                         std::clamp((down ? other.fromX : other.toX) / 1e5, -0.45, 0.45));
    std::ranges::sort(m_places);
    const auto half = m_places.size() / 2;
    return m_places.size() % 2 == 1 ? m_places[half] : (m_places[half - 1] + m_places[half]) / 2;
  }

  /// Between the links of two neighbours of a layer, `left` being left.
  std::int64_t crossings(int left, int right) const {
    return crossings(m_graph.above, left, right) + crossings(m_graph.below, left, right);
  }
  std::int64_t crossings(const std::vector<std::vector<LayerGraph::Near>>& near, int left, int right) const {
    constexpr std::size_t most = 24;  // a hub's crossings are left as the medians made them
    const auto &one = near[std::size_t(left)], &two = near[std::size_t(right)];
    if (one.size() > most || two.size() > most) return 0;
    std::int64_t sum = 0;
    for (const auto& a : one)
      for (const auto& b : two) sum += m_place[std::size_t(a.vertex)] > m_place[std::size_t(b.vertex)];
    return sum;
  }

  LayerGraph& m_graph;
  std::vector<int> m_place;
  std::vector<double> m_key, m_places;
};

/// Pairs of links between two layers that cross, by a tree of sums over the places of the lower layer.
std::int64_t crossingsBelow(const LayerGraph& graph, const std::vector<int>& upper, const std::vector<int>& place,
                            std::size_t lowerSize) {
  std::vector<std::int64_t> tree(lowerSize + 1, 0);
  std::vector<int> ends;
  std::int64_t sum = 0, seen = 0;
  for (const int vertex : upper) {
    ends.clear();
    for (const auto& near : graph.below[std::size_t(vertex)]) ends.push_back(place[std::size_t(near.vertex)]);
    for (const int end : ends) {
      std::int64_t before = 0;
      for (int i = end + 1; i > 0; i -= i & -i) before += tree[std::size_t(i)];
      sum += seen - before;
    }
    for (const int end : ends) {
      for (int i = end + 1; i <= int(lowerSize); i += i & -i) ++tree[std::size_t(i)];
      ++seen;
    }
  }
  return sum;
}

int sweepsFor(std::size_t vertices) { return vertices < 2'000 ? 16 : vertices < 20'000 ? 10 : 4; }

/// From left to right as things were; what is new goes beside its neighbours.
void orderAsBefore(LayerGraph& graph, const PlanMemory& before) {
  std::vector<double> wanted(graph.vertices.size(), 0);
  for (const auto& layer : graph.layers)
    for (const int vertex : layer) {
      const auto at = std::size_t(vertex);
      const int item = graph.vertices[at].item;
      if (const auto* was = before.find(graph.vertices[at].key)) {
        wanted[at] = was->middle;
        continue;
      }
      for (const auto& near : graph.above[at]) wanted[at] += wanted[std::size_t(near.vertex)];
      if (!graph.above[at].empty()) wanted[at] /= double(graph.above[at].size());
      if (item < 0) wanted[at] += 0.5 + double(vertex) * 1e-6;  // lanes right of what they pass
    }
  for (auto& layer : graph.layers)
    std::ranges::stable_sort(layer, {}, [&](int vertex) { return wanted[std::size_t(vertex)]; });
}

}  // namespace

std::int64_t countCrossings(const LayerGraph& graph) {
  std::vector<int> place(graph.vertices.size());
  for (const auto& layer : graph.layers)
    for (std::size_t i = 0; i < layer.size(); ++i) place[std::size_t(layer[i])] = int(i);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i + 1 < graph.layers.size(); ++i)
    sum += crossingsBelow(graph, graph.layers[i], place, graph.layers[i + 1].size());
  return sum;
}

void orderLayers(LayerGraph& graph, const PlanMemory* before, const std::stop_token& stop) {
  if (before != nullptr && !before->items.empty()) return orderAsBefore(graph, *before);
  constexpr std::size_t mostToExchange = 8'000;
  Ordering ordering(graph);
  auto best = graph.layers;
  auto fewest = countCrossings(graph);
  const int sweeps = sweepsFor(graph.vertices.size());
  for (int i = 0; i < sweeps && fewest > 0 && !stop.stop_requested(); ++i) {
    ordering.sweep(i % 2 == 0);
    for (int k = 0; k < 3 && graph.vertices.size() <= mostToExchange && ordering.transpose(); ++k) {
    }
    const auto now = countCrossings(graph);
    if (now >= fewest) continue;
    fewest = now;
    best = graph.layers;
  }
  graph.layers = std::move(best);
}

}  // namespace kerf::ui::inline layout
