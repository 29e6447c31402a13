// Scene: a graph laid out: cards, rows inside cards, edges. Plain data, made on a worker, painted by GraphWidget.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <QPointF>
#include <QPolygonF>
#include <QRectF>

#include "ui/layout/group_tree.h"
#include "ui/layout/nested_diagram.h"
#include "ui/session/documents.h"

namespace kerf::ui::inline graph_view {

/// A line of a card that stands for another node: a parameter that only this node uses, or a portal (the near end of an
/// edge too long to draw; clicking it goes to `node`).
struct SceneRow {
  int node = -1;  ///< -1: "and N more"
  bool portal = false;
  QString label, detail;
};

/// Nodes of an earlier graph that are gone, to be drawn beside those that are there. Their inputs and users are places
/// in the shown graph, or behind its end those of other ghosts.
using GhostsPtr = std::shared_ptr<const std::vector<NodeDoc>>;

/// A node, or a closed group of them.
struct SceneCard {
  int node = 0;    ///< of a group: its result
  int group = -1;  ///< in Scene::groups; -1: a node
  QRectF rect;
  QString title, name, detail;  ///< op, node name, value
  QString repeats;              ///< of a group: "12 × block"
  NodeKind kind = NodeKind::Other;
  std::vector<SceneRow> rows;
  std::vector<int> others;  ///< nodes behind "and N more"
};

/// An open group: drawn around its cards.
struct SceneFrame {
  int group = 0, depth = 0;
  QRectF rect;
  QString title, detail;
};

struct SceneEdge {
  int from = 0, to = 0;  ///< cards
  QPolygonF points;      ///< cubic Bézier: 3k + 1 points from source to target; empty: too long to draw
  QRectF bounds;
};

struct Scene {
  GraphDocPtr graph;  ///< with ghosts behind the nodes of `shown`
  GraphDocPtr shown;  ///< the graph as it is
  GhostsPtr ghosts;   ///< null: none
  std::vector<SceneCard> cards;
  std::vector<SceneEdge> edges;
  std::vector<SceneFrame> frames;  ///< an inner one comes after the one around it
  std::vector<int> cardOfNode;     ///< by node index; parameters and portals are in their user's card
  QRectF bounds;
  QString engine;                           ///< "dot" or "layered"
  std::shared_ptr<const GroupTree> groups;  ///< null: nothing is grouped
  std::vector<char> open;                   ///< by group
  NestedMemory memory;                      ///< for the next layout of this graph
  int focus = -1;                           ///< node to begin with: what the model returns
  bool fresh = false;                       ///< laid out without regard to what was shown before
  /// A node that is gone.
  bool isGhost(int node) const { return shown && node >= int(shown->nodes.size()); }
  int cardAt(const QPointF& point) const;
  /// Node under a point: of a row if there is one, else of the card; -1 outside.
  int nodeAt(const QPointF& point) const;
  /// The group whose frame's title is under a point; -1 elsewhere.
  int titleAt(const QPointF& point) const;
  /// Paths of the open groups.
  std::set<std::string> openPaths() const;
};
using ScenePtr = std::shared_ptr<const Scene>;

/// Sizes of a card's parts, in scene units (pixels at zoom 1).
struct CardMetrics {
  static constexpr double header = 26, line = 20, row = 19, padding = 10, minWidth = 120, groupWidth = 170,
                          maxWidth = 300, bottom = 4;
  static constexpr double rankGap = 36, cardGap = 22;
  static constexpr int mostRows = 6;
};
QRectF rowRect(const SceneCard& card, std::size_t row);

/// Cards with sizes but no positions, and edges without points: what a layout starts from.
struct SceneOptions {
  bool inlineParameters = true;
  int portalSpan = 14;  ///< edges over more ranks than this become portals; 0: never
  int budget = 60;      ///< so many cards may be visible before groups are closed; 0: nothing is grouped
  bool dot = false;     ///< Graphviz places the cards, where there are few enough
  std::optional<std::set<std::string>> open = {};  ///< groups to open, by path; else what fits
  std::string revealed = {};                       ///< a node whose groups are opened as well
  QSizeF view = {};                                ///< as many groups are opened as fit into it and stay readable
  std::shared_ptr<const GroupTree> groups = {};    ///< of this graph, where they are known; else they are found
  /// Kernel of each node (empty: none): what is fused is grouped, also in small graphs. Null: modules are.
  std::shared_ptr<const std::vector<std::string>> kernels = {};
  GhostsPtr ghosts = {};
};
/// Graphs of so many nodes or fewer are shown as they are.
constexpr int mostUngrouped = 120;
bool isGrouped(const GraphDoc& graph, const SceneOptions& options);
/// `before`: of what was shown; blocks that stood beside each other there do so again.
GroupTree groupsOf(const GraphDoc& graph, const SceneOptions& options, const GroupTree* before = nullptr);
Scene buildScene(GraphDocPtr graph, const SceneOptions& options);
/// A picture with groups that fits only below this zoom begins at what the model returns instead.
constexpr double readableFolded = 0.42;
/// Bounds of everything.
void finishScene(Scene& scene);

}  // namespace kerf::ui::inline graph_view
