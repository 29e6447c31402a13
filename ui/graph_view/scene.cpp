#include "ui/graph_view/scene.h"

namespace kerf::ui::inline graph_view {

QRectF rowRect(const SceneCard& card, std::size_t row) {
  const double top = card.rect.top() + CardMetrics::header + (card.detail.isEmpty() ? 0 : CardMetrics::line);
  return {card.rect.left(), top + double(row) * CardMetrics::row, card.rect.width(), CardMetrics::row};
}

int Scene::cardAt(const QPointF& point) const {
  for (std::size_t i = 0; i < cards.size(); ++i)
    if (cards[i].rect.contains(point)) return int(i);
  return -1;
}

int Scene::nodeAt(const QPointF& point) const {
  const int at = cardAt(point);
  if (at < 0) return -1;
  const auto& card = cards[std::size_t(at)];
  for (std::size_t row = 0; row < card.rows.size(); ++row)
    if (card.rows[row].node >= 0 && rowRect(card, row).contains(point)) return card.rows[row].node;
  return card.node;
}

int Scene::titleAt(const QPointF& point) const {
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
    if (frame->rect.contains(point)) return point.y() < frame->rect.top() + FramePadding().top ? frame->group : -1;
  return -1;
}

std::set<std::string> Scene::openPaths() const {
  std::set<std::string> paths;
  for (std::size_t i = 0; i < open.size(); ++i)
    if (open[i]) paths.insert(groups->groups[i].path);
  return paths;
}

void finishScene(Scene& scene) {
  scene.bounds = {};
  for (const auto& card : scene.cards) scene.bounds |= card.rect;
  for (const auto& frame : scene.frames) scene.bounds |= frame.rect;
  for (auto& edge : scene.edges) {
    if (edge.points.size() < 4) continue;
    edge.bounds = edge.points.boundingRect().adjusted(-2, -2, 2, 2);
    scene.bounds |= edge.bounds;
  }
}

}  // namespace kerf::ui::inline graph_view
