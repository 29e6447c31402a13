#include "ui/graph_view/moves.h"

#include "ui/models/format.h"
#include "ui/models/placement_words.h"

namespace kerf::ui::inline graph_view {

QString CardMoves::text() const {
  const auto said = formatMicroseconds(cost);
  return count == 1 ? only + "  " + said : QString("%1 moves  %2").arg(count).arg(said);
}

SceneMoves movesOf(const Scene& scene, const ShardingDoc& sharding) {
  const auto cardOf = [&](const std::string& name) {
    const int node = name.empty() ? -1 : scene.shown->find(name);
    return node < 0 ? -1 : scene.cardOfNode[std::size_t(node)];
  };
  std::map<std::pair<int, int>, CardMoves> all;
  for (const auto& node : sharding.nodes) {
    const int to = node.moved.empty() ? -1 : cardOf(node.name);
    if (to < 0) continue;
    const auto inputs = movedInputs(*scene.shown, sharding, node);
    for (std::size_t i = 0; i < node.moved.size(); ++i) {
      const auto& moved = node.moved[i];
      if (moved.cost <= 0) continue;  // a rank keeps its part of what it has whole
      auto& moves = all[{inputs[i] < 0 ? -1 : scene.cardOfNode[std::size_t(inputs[i])], to}];
      ++moves.count;
      moves.cost += moved.cost;
      moves.only = kerf::ui::text(moved.from) + " → " + kerf::ui::text(moved.to);
    }
  }
  SceneMoves found;
  for (std::size_t i = 0; i < scene.edges.size() && !all.empty(); ++i) {
    const auto& edge = scene.edges[i];
    if (edge.points.empty()) continue;
    if (auto drawn = all.extract({edge.from, edge.to}); !drawn.empty()) found.edges.insert(std::move(drawn));
  }
  for (const auto& [cards, moves] : all) {
    auto& inside = found.inside[cards.second];
    inside.count += moves.count;
    inside.cost += moves.cost;
    inside.only = moves.only;
  }
  return found;
}

}  // namespace kerf::ui::inline graph_view
