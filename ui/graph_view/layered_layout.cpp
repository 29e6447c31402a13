#include "ui/graph_view/layered_layout.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace kerf::ui::inline graph_view {
namespace {

std::uint64_t keyOf(const std::string& kind, const std::string& name) {
  return std::uint64_t(std::hash<std::string>()(kind + name)) | 1;
}

/// A ghost whose name another node bears by now.
bool isAlias(const Scene& scene, int node) {
  return scene.isGhost(node) && scene.shown->find(scene.graph->nodes[std::size_t(node)].name) >= 0;
}

QRectF rectOf(const Extent& extent) { return {extent.left, extent.top, extent.width, extent.height}; }

NestedDiagram nestedOf(const Scene& scene, const std::stop_token& stop) {
  NestedDiagram nested;
  nested.stop = stop;
  nested.spacing.layers = CardMetrics::rankGap;
  nested.spacing.items = CardMetrics::cardGap;
  nested.frames.push_back({-1, 1});
  std::vector<int> frameOf(scene.groups ? scene.groups->groups.size() : 1, 0);
  for (const auto& frame : scene.frames) {
    const auto& group = scene.groups->groups[std::size_t(frame.group)];
    frameOf[std::size_t(frame.group)] = int(nested.frames.size());
    nested.frames.push_back({frameOf[std::size_t(group.parent)], keyOf("frame ", group.path)});
  }
  for (const auto& card : scene.cards) {
    const bool node = card.group < 0;
    const auto key =
        node ? keyOf(isAlias(scene, card.node) ? "ghost " : "node ", scene.graph->nodes[std::size_t(card.node)].name)
             : keyOf("frame ", scene.groups->groups[std::size_t(card.group)].path);
    const int group = !scene.groups ? 0
                      : node        ? scene.groups->groupOf[std::size_t(card.node)]
                                    : scene.groups->groups[std::size_t(card.group)].parent;
    nested.cards.push_back({card.rect.width(), card.rect.height(), frameOf[std::size_t(group)], key});
  }
  for (const auto& edge : scene.edges) nested.links.push_back({edge.from, edge.to});
  return nested;
}

constexpr std::size_t nextToNothing = 12;  ///< cards

/// How large a picture may be so that all of it can be read in the view.
QSizeF roomIn(const QSizeF& view) {
  constexpr double margins = 64;
  return QSizeF(view.width() - margins, view.height() - margins) / readableFolded;
}

bool fits(const Scene& scene, const QSizeF& room) {
  return scene.bounds.width() <= room.width() && scene.bounds.height() <= room.height();
}

bool hasRegions(const GroupTree& tree) { return tree.find("/forward") >= 0; }

/// What of `open` there is in a stage that has regions where the other has none: "/h.0" there is "/forward/h.0" here.
std::set<std::string> carriedOver(const std::set<std::string>& open, const GroupTree& tree) {
  std::set<std::string> carried;
  for (const auto& group : tree.groups) {
    const auto inner = group.path.starts_with("/forward") ? group.path.substr(8) : group.path;
    const bool region = group.path == "/forward" || group.path == "/backward";
    if (region || open.contains(inner) || open.contains("/forward" + group.path)) carried.insert(group.path);
  }
  return carried;
}

/// Opens groups that hold groups as long as all of them fit into the view; where that leaves next to nothing to see, as
/// long as they fit a page, which the view then begins at the end of; where that is too little still (a model that is one
/// long list of layers), a strip of any height.
class OpenedToView {
 public:
  OpenedToView(const GraphDocPtr& graph, SceneOptions options, std::stop_token stop)
      : m_graph(graph), m_options(std::move(options)), m_stop(stop), m_room(roomIn(m_options.view)) {
    if (!m_options.groups) m_options.groups = std::make_shared<const GroupTree>(groupsOf(*graph, m_options));
  }

  /// Null if not even the outermost groups fit, or if it was stopped.
  ScenePtr run() {
    const QSizeF page(1500, 1200);
    m_options.open.emplace();
    if (!fitsWith({})) return nullptr;
    openAll();
    if (m_scene->cards.size() < nextToNothing) {
      m_room = m_room.expandedTo(page);
      openAll();
    }
    if (m_scene->cards.size() < nextToNothing) {
      m_room.setHeight(std::numeric_limits<double>::max());
      openAll();
    }
    return m_stop.stop_requested() ? nullptr : m_scene;
  }

 private:
  void openAll() {
    m_tries = 0;
    openLevels(*m_options.groups, [this](const std::vector<int>& groups) { return accept(groups); });
  }

  bool accept(const std::vector<int>& groups) {
    constexpr int mostTries = 40;
    const auto hasGroups = [this](int group) { return !m_options.groups->groups[std::size_t(group)].groups.empty(); };
    return std::ranges::any_of(groups, hasGroups) && ++m_tries <= mostTries && fitsWith(groups);
  }

  bool fitsWith(const std::vector<int>& groups) {
    const auto open = *m_options.open;
    for (const int group : groups) m_options.open->insert(m_options.groups->groups[std::size_t(group)].path);
    auto scene = std::make_shared<Scene>(buildScene(m_graph, m_options));
    const bool few = groups.empty() || int(scene->cards.size()) <= m_options.budget;
    if (few && layOutLayered(*scene, m_stop) && fits(*scene, m_room)) {
      m_scene = std::move(scene);
      m_scene->fresh = true;
      return true;
    }
    m_options.open = open;
    return false;
  }

  GraphDocPtr m_graph;
  SceneOptions m_options;
  std::stop_token m_stop;
  QSizeF m_room;
  std::shared_ptr<Scene> m_scene;
  int m_tries = 0;
};

}  // namespace

bool layOutLayered(Scene& scene, std::stop_token stop, const Scene* before) {
  if (stop.stop_requested()) return false;
  const bool another = before != nullptr && (before->shown != scene.shown || before->ghosts != scene.ghosts);
  auto plan = planNested(nestedOf(scene, stop), before == nullptr ? nullptr : &before->memory, another);
  if (stop.stop_requested()) return false;
  for (std::size_t i = 0; i < scene.cards.size(); ++i) scene.cards[i].rect = rectOf(plan.cards[i]);
  for (std::size_t i = 0; i < scene.frames.size(); ++i) scene.frames[i].rect = rectOf(plan.frames[i + 1]);
  for (std::size_t i = 0; i < scene.edges.size(); ++i) {
    QPolygonF points;
    for (const auto& spot : plan.routes[i]) points << QPointF(spot.x, spot.y);
    scene.edges[i].points = std::move(points);
  }
  scene.memory = std::move(plan.memory);
  scene.engine = "layered";
  finishScene(scene);
  return true;
}

ScenePtr layOutGraph(const GraphDocPtr& graph, SceneOptions options, std::stop_token stop, const ScenePtr& before) {
  const bool grouped = isGrouped(*graph, options);
  if (before && before->shown == graph)
    options.groups = before->groups;
  else if (grouped)
    options.groups =
        std::make_shared<const GroupTree>(groupsOf(*graph, options, before ? before->groups.get() : nullptr));
  const bool sameRegions =
      !before || !before->groups || !options.groups || hasRegions(*before->groups) == hasRegions(*options.groups);
  if (!sameRegions && options.open) {
    options.open = carriedOver(*options.open, *options.groups);
    auto scene = std::make_shared<Scene>(buildScene(graph, options));
    scene->fresh = true;
    if (!layOutLayered(*scene, stop)) return nullptr;
    const bool tells = scene->cards.size() >= nextToNothing && fits(*scene, roomIn(options.view));
    if (options.view.isEmpty() || tells) return scene;
    options.open.reset();
  }
  if (!options.open && !options.view.isEmpty() && grouped)
    if (auto scene = OpenedToView(graph, options, stop).run()) return scene;
  auto scene = std::make_shared<Scene>(buildScene(graph, options));
  scene->fresh = !sameRegions;
  return layOutLayered(*scene, stop, sameRegions ? before.get() : nullptr) ? scene : nullptr;
}

}  // namespace kerf::ui::inline graph_view
