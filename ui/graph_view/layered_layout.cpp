#include "ui/graph_view/layered_layout.h"

#include <functional>

namespace kerf::ui::inline graph_view {
namespace {

std::uint64_t keyOf(const std::string& kind, const std::string& name) {
  return std::uint64_t(std::hash<std::string>()(kind + name)) | 1;
}

QRectF rectOf(const Extent& extent) { return {extent.left, extent.top, extent.width, extent.height}; }

NestedGraph nestedOf(const Scene& scene) {
  NestedGraph nested;
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
    const auto key = node ? keyOf("node ", scene.graph->nodes[std::size_t(card.node)].name)
                          : keyOf("frame ", scene.groups->groups[std::size_t(card.group)].path);
    const int group = !scene.groups ? 0
                      : node        ? scene.groups->groupOf[std::size_t(card.node)]
                                    : scene.groups->groups[std::size_t(card.group)].parent;
    nested.cards.push_back({card.rect.width(), card.rect.height(), frameOf[std::size_t(group)], key});
  }
  for (const auto& edge : scene.edges) nested.links.push_back({edge.from, edge.to});
  return nested;
}

}  // namespace

bool layOutLayered(Scene& scene, std::stop_token stop, const Scene* before) {
  if (stop.stop_requested()) return false;
  const bool another = before != nullptr && before->graph != scene.graph;
  auto plan = planNested(nestedOf(scene), before == nullptr ? nullptr : &before->memory, another);
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

}  // namespace kerf::ui::inline graph_view
