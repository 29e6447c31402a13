// Moves: what it costs to move operands between ranks, by the edges of a scene.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "ui/graph_view/scene.h"

namespace kerf::ui::inline graph_view {

struct CardMoves {
  int count = 0;
  double cost = 0;    ///< microseconds
  QString only = {};  ///< "[S(0)] → [R]", where there is one
  /// "[S(0)] → [R]  7.2 µs", "3 moves  21.6 µs".
  QString text() const;
};

struct SceneMoves {
  std::map<std::pair<int, int>, CardMoves> edges;  ///< by the cards of operand and call, where an edge is drawn
  std::map<int, CardMoves> inside;  ///< by the card of the call: what comes out of its rows, from afar, or on the way
};
using SceneMovesPtr = std::shared_ptr<const SceneMoves>;
SceneMoves movesOf(const Scene& scene, const ShardingDoc& sharding);

}  // namespace kerf::ui::inline graph_view
