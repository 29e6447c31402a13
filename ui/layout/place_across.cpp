#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/layout/aligned_columns.h"

namespace kerf::ui::inline layout {
namespace {

constexpr double heldWeight = 1e6;  ///< how much more an item wants its old place than its neighbours

constexpr double laneWeight = 0.5;

struct Wish {
  double at = 0, weight = 0;
};

/// Middles as near to the wishes as order and distances let them be: isotonic regression by pooling neighbours.
class Row {
 public:
  void place(const std::vector<int>& layer, const std::vector<Wish>& wishes, const std::vector<double>& offsets,
             std::vector<double>& middles) {
    m_blocks.clear();
    for (std::size_t i = 0; i < layer.size(); ++i) {
      m_blocks.push_back({(wishes[i].at - offsets[i]) * wishes[i].weight, wishes[i].weight, i + 1});
      while (m_blocks.size() > 1 && m_blocks.back().mean() <= m_blocks[m_blocks.size() - 2].mean()) {
        const auto last = m_blocks.back();
        m_blocks.pop_back();
        m_blocks.back().sum += last.sum;
        m_blocks.back().weight += last.weight;
        m_blocks.back().end = last.end;
      }
    }
    std::size_t i = 0;
    for (const auto& block : m_blocks)
      for (; i < block.end; ++i) middles[std::size_t(layer[i])] = block.mean() + offsets[i];
  }

 private:
  struct Block {
    double sum = 0, weight = 0;
    std::size_t end = 0;
    double mean() const { return sum / weight; }
  };
  std::vector<Block> m_blocks;
};

/// Columns drawn to where items were before.
class Across {
 public:
  Across(const LayerGraph& graph, const FlatGraph& flat, const PlanMemory& before)
      : m_graph(graph), m_flat(flat), m_held(graph.vertices.size(), std::numeric_limits<double>::quiet_NaN()) {
    m_middles = alignColumns(graph, flat.spacing);
    for (std::size_t i = 0; i < graph.vertices.size(); ++i) {
      if (const auto* was = before.find(graph.vertices[i].key)) m_held[i] = was->middle;
    }
    moveToHeld();
  }

  std::vector<double> run() {
    const int rounds = m_graph.vertices.size() < 20'000 ? 8 : 3;
    for (int round = 0; round < rounds; ++round) {
      sweep(true, round + 1 == rounds);
      sweep(false, round + 1 == rounds);
    }
    sweep(true, true);
    return std::move(m_middles);
  }

 private:
  /// The middle of what is known goes to where it was, and all else with it.
  void moveToHeld() {
    std::vector<double> moves;
    for (std::size_t i = 0; i < m_held.size(); ++i)
      if (!std::isnan(m_held[i])) moves.push_back(m_held[i] - m_middles[i]);
    if (moves.empty()) return;
    std::ranges::nth_element(moves, moves.begin() + std::ptrdiff_t(moves.size() / 2));
    for (auto& middle : m_middles) middle += moves[moves.size() / 2];
  }

  /// The least distances of a layer's vertices from its first.
  const std::vector<double>& offsetsOf(const std::vector<int>& layer) {
    m_offsets.assign(layer.size(), 0);
    for (std::size_t i = 1; i < layer.size(); ++i)
      m_offsets[i] = m_offsets[i - 1] + leastApart(m_graph, m_flat.spacing, layer[i - 1], layer[i]);
    return m_offsets;
  }

  void add(Wish& wish, int vertex, bool down, double share) const {
    for (const auto& near : (down ? m_graph.above : m_graph.below)[std::size_t(vertex)]) {
      const double from = m_middles[std::size_t(near.vertex)];
      // Items follow items: a lane beside them would draw them aside, layer by layer.
      const bool toLane = m_graph.vertices[std::size_t(near.vertex)].item < 0;
      const bool ofItem = m_graph.vertices[std::size_t(vertex)].item >= 0;
      const double weight = near.weight * share * (toLane && ofItem ? 0.05 : 1);
      wish.at += weight * (down ? from + near.fromX - near.toX : from + near.toX - near.fromX);
      wish.weight += weight;
    }
  }

  Wish wishOf(int vertex, bool down, bool both) const {
    Wish wish;
    add(wish, vertex, down, 1);
    if (both) add(wish, vertex, !down, 1);
    if (wish.weight > 0 && m_graph.vertices[std::size_t(vertex)].item < 0)
      wish = {wish.at / wish.weight * laneWeight, laneWeight};
    if (const double held = m_held[std::size_t(vertex)]; !std::isnan(held)) {
      wish.at += held * heldWeight;
      wish.weight += heldWeight;
    }
    if (wish.weight <= 0) return {m_middles[std::size_t(vertex)], 0.05};
    return {wish.at / wish.weight, wish.weight};
  }

  void sweep(bool down, bool both) {
    const auto count = m_graph.layers.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto& layer = m_graph.layers[down ? i : count - 1 - i];
      m_wishes.clear();
      for (const int vertex : layer) m_wishes.push_back(wishOf(vertex, down, both));
      m_row.place(layer, m_wishes, offsetsOf(layer), m_middles);
    }
  }

  const LayerGraph& m_graph;
  const FlatGraph& m_flat;
  std::vector<double> m_held, m_middles, m_offsets;
  std::vector<Wish> m_wishes;
  Row m_row;
};

}  // namespace

std::vector<double> placeAcross(const LayerGraph& graph, const FlatGraph& flat, const PlanMemory* before) {
  if (before == nullptr) return alignColumns(graph, flat.spacing);
  return Across(graph, flat, *before).run();
}

}  // namespace kerf::ui::inline layout
