#include "ui/layout/aligned_columns.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_set>

namespace kerf::ui::inline layout {
namespace {

using Near = LayerGraph::Near;
using Pairs = std::unordered_set<std::uint64_t>;

std::uint64_t pairOf(int upper, int lower) { return std::uint64_t(std::uint32_t(upper)) << 32 | std::uint32_t(lower); }

/// Links that cross a straight lane: those give way.
Pairs crossedLanes(const LayerGraph& graph, const std::vector<int>& place) {
  Pairs crossed;
  const auto lane = [&](int vertex) { return graph.vertices[std::size_t(vertex)].item < 0; };
  const auto laneAbove = [&](int vertex) {
    const auto& above = graph.above[std::size_t(vertex)];
    return lane(vertex) && above.size() == 1 && lane(above.front().vertex) ? above.front().vertex : -1;
  };
  for (std::size_t i = 1; i < graph.layers.size(); ++i) {
    const auto& layer = graph.layers[i];
    int low = 0;
    std::size_t done = 0;
    for (std::size_t k = 0; k < layer.size(); ++k) {
      const int above = laneAbove(layer[k]);
      if (above < 0 && k + 1 < layer.size()) continue;
      const int high = above < 0 ? int(graph.layers[i - 1].size()) : place[std::size_t(above)];
      for (; done <= k; ++done)
        for (const auto& near : graph.above[std::size_t(layer[done])]) {
          const int at = place[std::size_t(near.vertex)];
          if ((at < low || at > high) && !(lane(layer[done]) && lane(near.vertex)))
            crossed.insert(pairOf(near.vertex, layer[done]));
        }
      low = std::max(low, high);
    }
  }
  return crossed;
}

/// One of the four placements: columns aligned with what is above or below, packed to the left or to the right.
class ExtremePlacement {
 public:
  ExtremePlacement(const LayerGraph& graph, const FlatSpacing& spacing, const std::vector<int>& place,
                   const Pairs& crossed, bool down, bool left)
      : m_graph(graph), m_spacing(spacing), m_place(place), m_crossed(crossed), m_down(down), m_left(left) {}

  std::vector<double> run() {
    align();
    return compact();
  }

 private:
  /// Neighbours to align with: items before lanes, so that a residual link does not draw its sum aside.
  void candidates(int vertex) {
    const auto& near = (m_down ? m_graph.above : m_graph.below)[std::size_t(vertex)];
    m_near.clear();
    const auto isItem = [&](const Near& other) { return m_graph.vertices[std::size_t(other.vertex)].item >= 0; };
    const bool some = isItem({vertex}) && std::ranges::any_of(near, isItem);
    for (const auto& other : near)
      if (!some || isItem(other)) m_near.push_back(&other);
    std::ranges::stable_sort(m_near, {}, [this](const Near* other) { return m_place[std::size_t(other->vertex)]; });
  }

  /// A lane goes on with itself, an item with an item where it can: what else hangs on them gives way.
  bool kept(int from, int vertex) const {
    const bool lane = m_graph.vertices[std::size_t(from)].item < 0;
    if (lane == (m_graph.vertices[std::size_t(vertex)].item < 0)) return false;
    return lane ? m_hasLane[std::size_t(from)] != 0 : m_hasItem[std::size_t(from)] != 0;
  }

  /// Which kinds of vertices follow each on the next layer.
  void findFollowers() {
    m_hasLane.assign(m_graph.vertices.size(), 0);
    m_hasItem.assign(m_graph.vertices.size(), 0);
    for (std::size_t i = 0; i < m_graph.vertices.size(); ++i)
      for (const auto& near : (m_down ? m_graph.below : m_graph.above)[i])
        (m_graph.vertices[std::size_t(near.vertex)].item < 0 ? m_hasLane : m_hasItem)[i] = 1;
  }

  void align() {
    findFollowers();
    const auto count = m_graph.vertices.size();
    m_root.resize(count);
    m_shift.assign(count, 0);
    m_next.assign(count, -1);
    for (std::size_t i = 0; i < count; ++i) m_root[i] = int(i);
    const auto layers = m_graph.layers.size();
    for (std::size_t i = 1; i < layers; ++i) {
      const auto& layer = m_graph.layers[m_down ? i : layers - 1 - i];
      int limit = m_left ? -1 : std::numeric_limits<int>::max();
      for (std::size_t k = 0; k < layer.size(); ++k) alignOne(layer[m_left ? k : layer.size() - 1 - k], limit);
    }
  }

  void alignOne(int vertex, int& limit) {
    candidates(vertex);
    if (m_near.empty()) return;
    const auto low = (m_near.size() - 1) / 2, high = m_near.size() / 2;
    for (const auto at : {m_left ? low : high, m_left ? high : low}) {
      const auto& near = *m_near[at];
      const int place = m_place[std::size_t(near.vertex)];
      if (m_left ? place <= limit : place >= limit) continue;
      if (m_next[std::size_t(near.vertex)] >= 0 || kept(near.vertex, vertex)) continue;
      const auto pair = m_down ? pairOf(near.vertex, vertex) : pairOf(vertex, near.vertex);
      if (m_crossed.contains(pair)) continue;
      m_next[std::size_t(near.vertex)] = vertex;
      m_root[std::size_t(vertex)] = m_root[std::size_t(near.vertex)];
      const double step = near.fromX - near.toX;
      m_shift[std::size_t(vertex)] = m_shift[std::size_t(near.vertex)] + (m_down ? step : -step);
      limit = place;
      return;
    }
  }

  struct Gap {
    int to = 0;
    double least = 0;
  };

  /// Columns in an order in which each comes after those left of it, and the gaps between them.
  std::vector<int> sortColumns() {
    const auto count = m_graph.vertices.size();
    m_after.assign(count, {});
    std::vector<int> waiting(count, 0), order;
    for (const auto& layer : m_graph.layers)
      for (std::size_t k = 0; k + 1 < layer.size(); ++k) {
        const int left = layer[k], right = layer[k + 1];
        const double least =
            leastApart(m_graph, m_spacing, left, right) + m_shift[std::size_t(left)] - m_shift[std::size_t(right)];
        m_after[std::size_t(m_root[std::size_t(left)])].push_back({m_root[std::size_t(right)], least});
        ++waiting[std::size_t(m_root[std::size_t(right)])];
      }
    for (std::size_t i = 0; i < count; ++i)
      if (m_root[i] == int(i) && waiting[i] == 0) order.push_back(int(i));
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const auto& gap : m_after[std::size_t(order[i])])
        if (--waiting[std::size_t(gap.to)] == 0) order.push_back(gap.to);
    return order;
  }

  /// As far to one side as order allows, then back towards the neighbours on the other.
  std::vector<double> compact() {
    const auto order = sortColumns();
    std::vector<double> x(m_graph.vertices.size(), 0);
    if (m_left)
      packLeft(order, x);
    else
      packRight(order, x);
    std::vector<double> middles(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) middles[i] = x[std::size_t(m_root[i])] + m_shift[i];
    return middles;
  }

  void packLeft(const std::vector<int>& order, std::vector<double>& x) const {
    for (const int column : order)
      for (const auto& gap : m_after[std::size_t(column)])
        x[std::size_t(gap.to)] = std::max(x[std::size_t(gap.to)], x[std::size_t(column)] + gap.least);
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      double most = std::numeric_limits<double>::infinity();
      for (const auto& gap : m_after[std::size_t(*at)]) most = std::min(most, x[std::size_t(gap.to)] - gap.least);
      if (most < std::numeric_limits<double>::infinity()) x[std::size_t(*at)] = std::max(x[std::size_t(*at)], most);
    }
  }

  void packRight(const std::vector<int>& order, std::vector<double>& x) const {
    for (auto at = order.rbegin(); at != order.rend(); ++at)
      for (const auto& gap : m_after[std::size_t(*at)])
        x[std::size_t(*at)] = std::min(x[std::size_t(*at)], x[std::size_t(gap.to)] - gap.least);
    std::vector<double> least(x.size(), -std::numeric_limits<double>::infinity());
    for (const int column : order) {
      auto& own = x[std::size_t(column)];
      if (least[std::size_t(column)] > -std::numeric_limits<double>::infinity())
        own = std::min(own, least[std::size_t(column)]);
      for (const auto& gap : m_after[std::size_t(column)])
        least[std::size_t(gap.to)] = std::max(least[std::size_t(gap.to)], own + gap.least);
    }
  }

  const LayerGraph& m_graph;
  const FlatSpacing& m_spacing;
  const std::vector<int>& m_place;
  const Pairs& m_crossed;
  bool m_down, m_left;
  std::vector<int> m_root, m_next;
  std::vector<double> m_shift;  ///< of a vertex from its column
  std::vector<char> m_hasLane, m_hasItem;
  std::vector<const Near*> m_near;
  std::vector<std::vector<Gap>> m_after;
};

struct Span {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  double size() const { return high - low; }
};

Span spanOf(const LayerGraph& graph, const std::vector<double>& middles) {
  Span span;
  for (std::size_t i = 0; i < middles.size(); ++i) {
    span.low = std::min(span.low, middles[i] - graph.vertices[i].width / 2);
    span.high = std::max(span.high, middles[i] + graph.vertices[i].width / 2);
  }
  return span;
}

}  // namespace

double leastApart(const LayerGraph& graph, const FlatSpacing& spacing, int left, int right) {
  const auto &one = graph.vertices[std::size_t(left)], &two = graph.vertices[std::size_t(right)];
  const bool lanes = one.item < 0 && two.item < 0;
  return (one.width + two.width) / 2 + (lanes ? 0 : one.item < 0 || two.item < 0 ? spacing.lanes : spacing.items);
}

std::vector<double> alignColumns(const LayerGraph& graph, const FlatSpacing& spacing) {
  std::vector<int> place(graph.vertices.size());
  for (const auto& layer : graph.layers)
    for (std::size_t i = 0; i < layer.size(); ++i) place[std::size_t(layer[i])] = int(i);
  const auto crossed = crossedLanes(graph, place);
  std::array<std::vector<double>, 4> placements;
  std::array<Span, 4> spans;
  for (std::size_t i = 0; i < 4; ++i) {
    placements[i] = ExtremePlacement(graph, spacing, place, crossed, i < 2, i % 2 == 0).run();
    spans[i] = spanOf(graph, placements[i]);
  }
  const auto narrowest = std::size_t(std::ranges::min_element(spans, {}, &Span::size) - spans.begin());
  for (std::size_t i = 0; i < 4; ++i) {
    const double move = i % 2 == 0 ? spans[narrowest].low - spans[i].low : spans[narrowest].high - spans[i].high;
    for (auto& middle : placements[i]) middle += move;
  }
  std::vector<double> middles(graph.vertices.size());
  for (std::size_t i = 0; i < middles.size(); ++i) {
    std::array values{placements[0][i], placements[1][i], placements[2][i], placements[3][i]};
    std::ranges::sort(values);
    middles[i] = (values[1] + values[2]) / 2;
  }
  return middles;
}

}  // namespace kerf::ui::inline layout
