#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "ui/layout/layering.h"

namespace kerf::ui::inline layout {
namespace {

constexpr std::size_t mostLanes = 400'000;  ///< links whose lanes would make more are not drawn

struct Neighbours {
  std::vector<std::vector<int>> into, outOf;

  explicit Neighbours(const FlatGraph& graph) : into(graph.items.size()), outOf(graph.items.size()) {
    for (const auto& link : graph.links) {
      if (link.from == link.to) continue;
      into[std::size_t(link.to)].push_back(link.from);
      outOf[std::size_t(link.from)].push_back(link.to);
    }
  }
};

/// Finds the next layer from a wanted one that still has a free slot.
class LayerSlots {
 public:
  explicit LayerSlots(int most) : m_most(most) {}
  int take(int wanted) {
    const int layer = find(wanted);
    if (++m_count[std::size_t(layer)] >= m_most) m_next[std::size_t(layer)] = layer + 1;
    return layer;
  }

 private:
  int find(int layer) {
    grow(layer);
    int end = layer;
    while (m_next[std::size_t(end)] != end) {
      end = m_next[std::size_t(end)];
      grow(end);
    }
    while (m_next[std::size_t(layer)] != layer) layer = std::exchange(m_next[std::size_t(layer)], end);
    return end;
  }
  void grow(int layer) {
    while (int(m_next.size()) <= layer) {
      m_next.push_back(int(m_next.size()));
      m_count.push_back(0);
    }
  }

  int m_most;
  std::vector<int> m_next, m_count;
};

int widestLayer(std::size_t items) { return std::max(40, int(2 * std::sqrt(double(items)))); }

/// Items without inputs, and those with more users than inputs, go down to just above their nearest user.
void tighten(std::vector<int>& layer, const FlatGraph& graph, const Neighbours& near, const std::vector<int>& order) {
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const auto item = std::size_t(*at);
    if (near.outOf[item].empty() || graph.items[item].pinned != Pinned::Free) continue;
    if (near.outOf[item].size() < near.into[item].size() || near.into[item].size() > 1) continue;
    int nearest = layer[std::size_t(near.outOf[item].front())];
    for (const int user : near.outOf[item]) nearest = std::min(nearest, layer[std::size_t(user)]);
    if (near.into[item].empty() || near.outOf[item].size() > near.into[item].size())
      layer[item] = std::max(layer[item], nearest - 1);
  }
}

void pinEnds(std::vector<int>& layer, const FlatGraph& graph) {
  int last = 0;
  for (std::size_t i = 0; i < layer.size(); ++i)
    if (graph.items[i].pinned != Pinned::Last) last = std::max(last, layer[i]);
  for (std::size_t i = 0; i < layer.size(); ++i)
    if (graph.items[i].pinned == Pinned::Last) layer[i] = std::max(layer[i], last + 1);
}

bool anyPinned(const FlatGraph& graph, Pinned where) {
  return std::ranges::any_of(graph.items, [where](const FlatItem& item) { return item.pinned == where; });
}

std::uint64_t laneKey(std::uint64_t item, int layer) {
  return item == 0 ? 0 : (item ^ 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U + std::uint64_t(layer);
}

}  // namespace

std::vector<int> linkOrder(const FlatGraph& graph) {
  const Neighbours near(graph);
  const auto count = graph.items.size();
  std::vector<int> waiting(count), order;
  std::vector<char> done(count, 0);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i) {
    waiting[i] = int(near.into[i].size());
    if (waiting[i] == 0) ready.push(int(i));
  }
  order.reserve(count);
  std::size_t oldest = 0;
  while (order.size() < count) {
    if (ready.empty()) {  // a cycle: its first item goes first
      while (done[oldest]) ++oldest;
      ready.push(int(oldest));
    }
    const int item = ready.top();
    ready.pop();
    if (std::exchange(done[std::size_t(item)], 1)) continue;
    order.push_back(item);
    for (const int user : near.outOf[std::size_t(item)])
      if (--waiting[std::size_t(user)] == 0 && !done[std::size_t(user)]) ready.push(user);
  }
  return order;
}

std::vector<int> assignLayers(const FlatGraph& graph, const PlanMemory* before) {
  const Neighbours near(graph);
  const auto order = linkOrder(graph);
  std::vector<int> place(order.size()), layer(order.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) place[std::size_t(order[i])] = int(i);
  const bool still = before != nullptr && before->still;
  const int first = anyPinned(graph, Pinned::First) ? 1 : 0;
  LayerSlots slots(widestLayer(order.size()));
  for (const int item : order) {
    const auto at = std::size_t(item);
    if (graph.items[at].pinned == Pinned::First) continue;
    int wanted = first;
    for (const int input : near.into[at])
      if (place[std::size_t(input)] < place[at]) wanted = std::max(wanted, layer[std::size_t(input)] + 1);
    const auto* was = still ? before->find(graph.items[at].key) : nullptr;
    if (was != nullptr && graph.items[at].pinned == Pinned::Free) wanted = std::max(wanted, was->layer);
    layer[at] = graph.items[at].pinned == Pinned::Last ? wanted : slots.take(wanted);
  }
  if (!still) tighten(layer, graph, near, order);
  pinEnds(layer, graph);
  return layer;
}

LayerGraph withLanes(const FlatGraph& graph, const std::vector<int>& layers) {
  LayerGraph made;
  const auto count = graph.items.size();
  int last = -1;
  for (std::size_t i = 0; i < count; ++i) {
    made.vertices.push_back({int(i), layers[i], graph.items[i].width, graph.items[i].key});
    last = std::max(last, layers[i]);
  }
  std::vector<std::vector<int>> lanes(count);  // of an item's links: [0] is on the layer below it
  made.paths.resize(graph.links.size());
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const auto& link = graph.links[i];
    if (link.from == link.to || layers[std::size_t(link.from)] == layers[std::size_t(link.to)]) continue;
    const bool down = layers[std::size_t(link.from)] < layers[std::size_t(link.to)];
    const int upper = down ? link.from : link.to, lower = down ? link.to : link.from;
    auto& own = lanes[std::size_t(upper)];
    const int passed = layers[std::size_t(lower)] - layers[std::size_t(upper)] - 1;
    if (passed > int(own.size()) && made.vertices.size() - count + std::size_t(passed) > mostLanes) continue;
    while (int(own.size()) < passed) {
      own.push_back(int(made.vertices.size()));
      const int layer = layers[std::size_t(upper)] + int(own.size());
      made.vertices.push_back({-1, layer, graph.spacing.lanes, laneKey(graph.items[std::size_t(upper)].key, layer)});
    }
    auto& path = made.paths[i];
    path.push_back(upper);
    path.insert(path.end(), own.begin(), own.begin() + passed);
    path.push_back(lower);
  }
  made.layers.resize(std::size_t(last + 1));
  for (std::size_t i = 0; i < made.vertices.size(); ++i)
    made.layers[std::size_t(made.vertices[i].layer)].push_back(int(i));
  made.above.resize(made.vertices.size());
  made.below.resize(made.vertices.size());
  const auto offset = [&](int vertex, double x) { return x - made.vertices[std::size_t(vertex)].width / 2; };
  std::vector<char> joined(made.vertices.size(), 0);  // a shared lane has one link from above
  for (std::size_t i = 0; i < made.paths.size(); ++i) {
    const auto& path = made.paths[i];
    const auto& link = graph.links[i];
    for (std::size_t k = 0; k + 1 < path.size(); ++k) {
      const auto upper = std::size_t(path[k]), lower = std::size_t(path[k + 1]);
      const bool laneBelow = lower >= count, laneAbove = upper >= count;
      if (laneBelow && std::exchange(joined[lower], 1)) continue;
      const bool down = path.front() == link.from;
      const double fromX = laneAbove ? 0 : offset(path[k], down ? link.fromX : link.toX);
      const double toX = laneBelow ? 0 : offset(path[k + 1], down ? link.toX : link.fromX);
      const double weight = laneAbove && laneBelow ? 6 : laneAbove || laneBelow ? 0.3 : 1;
      made.below[upper].push_back({path[k + 1], fromX, toX, weight});
      made.above[lower].push_back({path[k], fromX, toX, weight});
    }
  }
  return made;
}

}  // namespace kerf::ui::inline layout
