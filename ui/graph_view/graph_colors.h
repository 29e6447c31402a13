// GraphColors: what colours the cards: what a node does, how far its value is from the limit, or where it is placed.
#pragma once

#include <QColor>
#include <QSet>

#include "ui/graph_view/hulls.h"
#include "ui/graph_view/moves.h"
#include "ui/graph_view/scene.h"

namespace kerf::ui::inline graph_view {

enum class ColorMode { Kind, Accuracy, Placement };

/// State of the view that painting depends on, beside the scene itself.
struct ViewState {
  ColorMode mode = ColorMode::Kind;
  AccuracyDocPtr accuracy;
  ShardingDocPtr sharding;          ///< null: placements are not known
  SceneMovesPtr moves;              ///< of `sharding` in the scene; null with it
  int selected = -1, hovered = -1;  ///< nodes
  QSet<int> found;                  ///< search hits, nodes
  int currentHit = -1;
  QSet<int> added, rewritten;  ///< against what the graph is compared with
  QHash<int, QString> saved;   ///< for backward, with how many bytes
  QSet<int> recomputed;        ///< in backward, once more
  QSet<int> pinned;            ///< nodes that a minification leaves as they are
  QSet<int> noted;             ///< nodes with a bookmark or a note of somebody
  HullsPtr hulls;              ///< null: fusion groups are not outlined
  bool dimUnrelated = false;
  bool values = true;  ///< what a node's values are like stands below its card, where that is known
};

/// Colour of one node; invalid where the mode knows nothing of it.
QColor nodeColor(const NodeDoc& node, const ViewState& state);
/// Of a placement, by its place in ShardingDoc::kinds; quiet for values that are whole on every rank.
QColor placementColor(const ShardingDoc& sharding, int kind);
/// Of links that nothing marks.
QColor quietEdge();
bool isFirstBad(const NodeDoc& node, const ViewState& state);

}  // namespace kerf::ui::inline graph_view
