#include "ui/graph_view/layered_layout.h"

#include <algorithm>
#include <climits>
#include <numeric>

namespace kerf::ui::inline graph_view {
namespace {

constexpr int sweeps = 6;

struct Layers {
  Scene& scene;
  std::vector<std::vector<int>> above, below;  ///< neighbours of each card
  std::vector<std::vector<int>> ranks;
  std::vector<double> center;

  explicit Layers(Scene& target)
      : scene(target), above(target.cards.size()), below(target.cards.size()), center(target.cards.size()) {
    for (const auto& edge : scene.edges) {
      below[std::size_t(edge.from)].push_back(edge.to);
      above[std::size_t(edge.to)].push_back(edge.from);
    }
  }

  /// Cards are in execution order, so one walk gives the longest path; sources then sink to their nearest user.
  void assignRanks() {
    std::vector<int> rank(scene.cards.size(), 0);
    for (std::size_t i = 0; i < rank.size(); ++i)
      for (const int from : above[i]) rank[i] = std::max(rank[i], rank[std::size_t(from)] + 1);
    for (std::size_t i = 0; i < rank.size(); ++i) {
      if (!above[i].empty() || below[i].empty()) continue;
      int nearest = INT_MAX;
      for (const int to : below[i]) nearest = std::min(nearest, rank[std::size_t(to)]);
      rank[i] = nearest - 1;
    }
    ranks.resize(rank.empty() ? 0 : std::size_t(*std::max_element(rank.begin(), rank.end())) + 1);
    for (std::size_t i = 0; i < rank.size(); ++i) ranks[std::size_t(rank[i])].push_back(int(i));
  }

  double width(int card) const { return scene.cards[std::size_t(card)].rect.width(); }

  double wanted(int card, const std::vector<std::vector<int>>& neighbours) const {
    const auto& near = neighbours[std::size_t(card)];
    if (near.empty()) return center[std::size_t(card)];
    double sum = 0;
    for (const int other : near) sum += center[std::size_t(other)];
    return sum / double(near.size());
  }

  /// Puts the cards of a rank at their wanted centres in that order, pushed apart, then shifted back to balance.
  void place(std::vector<int>& rank, const std::vector<std::vector<int>>& neighbours) {
    std::vector<std::pair<double, int>> order;
    for (const int card : rank) order.emplace_back(wanted(card, neighbours), card);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    double right = -1e300, shift = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto [want, card] = order[i];
      const double half = width(card) / 2;
      center[std::size_t(card)] = std::max(want, right + half);
      right = center[std::size_t(card)] + half + CardMetrics::cardGap;
      shift += center[std::size_t(card)] - want;
      rank[i] = card;
    }
    for (const int card : rank) center[std::size_t(card)] -= shift / double(rank.size());
  }

  void pack() {
    for (const auto& rank : ranks) {
      double x = 0;
      for (const int card : rank) {
        center[std::size_t(card)] = x + width(card) / 2;
        x += width(card) + CardMetrics::cardGap;
      }
      for (const int card : rank) center[std::size_t(card)] -= x / 2;
    }
  }

  void write() {
    double y = 0;
    for (const auto& rank : ranks) {
      double height = 0;
      for (const int card : rank) {
        auto& rect = scene.cards[std::size_t(card)].rect;
        rect.moveTo(center[std::size_t(card)] - rect.width() / 2, y);
        height = std::max(height, rect.height());
      }
      y += height + CardMetrics::rankGap;
    }
  }
};

}  // namespace

bool layOutLayered(Scene& scene, std::stop_token stop) {
  Layers layers(scene);
  layers.assignRanks();
  layers.pack();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    if (stop.stop_requested()) return false;
    if (sweep % 2 == 0)
      for (auto& rank : layers.ranks) layers.place(rank, layers.above);
    else
      for (auto rank = layers.ranks.rbegin(); rank != layers.ranks.rend(); ++rank) layers.place(*rank, layers.below);
  }
  layers.write();
  scene.engine = "layered";
  finishScene(scene);
  return !stop.stop_requested();
}

}  // namespace kerf::ui::inline graph_view
