#include "ui/graph_view/graph_widget.h"

#include <algorithm>
#include <cmath>

#include <QPainter>
#include <QTimer>

#include "ui/graph_view/graph_painter.h"
#include "ui/graph_view/minimap.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {
namespace {

constexpr double minZoom = 0.005, maxZoom = 4;
constexpr double margin = 32;
constexpr double readable = 0.8;  ///< a graph that fits only below this starts at its top instead
constexpr double grid = 28;
constexpr int staleMs =
    120;  ///< a scene of another title is drawn so much longer, so that a quick layout does not flicker

/// `wanted` between the two ends; their middle where they are the wrong way round (everything fits).
double kept(double wanted, double low, double high) {
  return low > high ? (low + high) / 2 : std::clamp(wanted, low, high);
}

}  // namespace

GraphWidget::GraphWidget(QWidget* parent) : QWidget(parent), m_minimap(new Minimap(*this)) {
  setObjectName("graph");
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setMinimumSize(240, 160);
  setAccessibleName(tr("Graph"));
  setAttribute(Qt::WA_OpaquePaintEvent);
}

void GraphWidget::setScene(ScenePtr scene, bool again) {
  again = again && m_scene && scene;
  if (again && m_held >= 0) m_untouched = false;
  const auto held = again ? heldPoint() : QPointF();
  m_scene = std::move(scene);
  m_retired = nullptr;
  findMoves();
  m_stale = m_hidden = false;
  m_state.hovered = -1;
  m_state.found.clear();
  m_state.currentHit = -1;
  if (m_scene && m_state.selected >= int(m_scene->cardOfNode.size())) m_state.selected = -1;
  if (!again) startView();
  if (again && m_held >= 0) m_center += heldPoint() - held;
  m_held = -1;
  m_minimap->refresh();
  update();
  emit meaningChanged();
  emit viewChanged();
}

void GraphWidget::setStale() {
  if (!m_scene || std::exchange(m_stale, true)) return;
  QTimer::singleShot(staleMs, this, [this] {
    m_hidden = m_stale;
    update();
    emit meaningChanged();
  });
}

void GraphWidget::retire() {
  if (!m_scene) return;
  setStale();
  m_retired = std::exchange(m_scene, nullptr);
  m_state.hovered = -1;
  m_minimap->refresh();
}

bool GraphWidget::takeBack() {
  if (!m_retired) return m_scene != nullptr;
  m_scene = std::exchange(m_retired, nullptr);
  m_minimap->refresh();
  return true;
}

void GraphWidget::holdCard(int node) { m_held = node; }

/// The corner of the held node's card; of the outermost frame that was opened or closed around it, if that is the card.
QPointF GraphWidget::heldPoint() const {
  if (!m_scene || m_held < 0 || m_held >= int(m_scene->cardOfNode.size())) return {};
  const int card = m_scene->cardOfNode[std::size_t(m_held)];
  return card < 0 ? QPointF() : m_scene->cards[std::size_t(card)].rect.center();
}

void GraphWidget::startView() {
  m_untouched = true;
  if (!m_scene || m_scene->cards.empty()) return;
  m_zoom = fitZoom();
  m_center = m_scene->bounds.center();
  if (m_zoom >= (m_scene->groups ? readableFolded * 0.8 : readable)) return;  // a page of blocks is seen whole
  m_zoom = readable;
  m_center.setY(m_scene->bounds.top() + height() / 2.0 / m_zoom - margin / m_zoom);
  m_center.setX(middleOf(visibleScene()));
  const int first = m_state.selected >= 0 ? m_state.selected : m_scene->focus;
  if (first < 0) return;
  if (m_state.selected >= 0) return void(m_center = within(placeOf(first)));
  // What leads to the result is what matters: the result is below the middle, and the output, where it is near, in view.
  const double high = visibleScene().height(), result = placeOf(first).y(), below = margin / m_zoom;
  double end = result + high * 0.3;
  for (const auto& card : m_scene->cards)
    if (card.kind == NodeKind::Output && card.group < 0 && card.rect.bottom() + below < result + high * 0.6)
      end = std::max(end, card.rect.bottom() + below);
  m_center = within({placeOf(first).x(), end - high / 2});
  m_center.setX(middleOf(visibleScene()));  // of what is at this height: a wide picture may be empty beside it
}

/// The centre nearest to `wanted` at which the view shows no more than margins beside the picture.
QPointF GraphWidget::within(const QPointF& wanted) const {
  const auto& bounds = m_scene->bounds;
  const QSizeF half = QSizeF(size()) / m_zoom / 2 - QSizeF(margin, margin) / m_zoom;
  return {kept(wanted.x(), bounds.left() + half.width(), bounds.right() - half.width()),
          kept(wanted.y(), bounds.top() + half.height(), bounds.bottom() - half.height())};
}

/// Where a node is shown: the middle of its card, or of its row.
QPointF GraphWidget::placeOf(int node) const {
  const int card = m_scene->cardOfNode[std::size_t(node)];
  return card < 0 ? m_scene->bounds.center() : m_scene->cards[std::size_t(card)].rect.center();
}

/// Middle of the cards at the height of `band`, so that a wide graph starts where it has something to show.
double GraphWidget::middleOf(const QRectF& band) const {
  double sum = 0;
  int count = 0;
  for (const auto& card : m_scene->cards) {
    if (card.rect.bottom() < band.top() || card.rect.top() > band.bottom()) continue;
    sum += card.rect.center().x();
    ++count;
  }
  return count > 0 ? sum / count : m_scene->bounds.center().x();
}

double GraphWidget::fitZoom() const {
  if (!m_scene || m_scene->bounds.isEmpty()) return 1;
  const double across = (width() - 2 * margin) / m_scene->bounds.width();
  const double down = (height() - 2 * margin) / m_scene->bounds.height();
  return std::clamp(std::min(across, down), minZoom, 1.0);
}

void GraphWidget::fit() {
  if (!m_scene) return;
  m_zoom = fitZoom();
  moveTo(m_scene->bounds.center());
}

void GraphWidget::resetZoom() { setZoom(1, rect().center()); }

void GraphWidget::zoomBy(double factor) { setZoom(m_zoom * factor, QRectF(rect()).center()); }

void GraphWidget::setZoom(double zoom, const QPointF& keepFixed) {
  const auto before = toScene(keepFixed);
  m_zoom = std::clamp(zoom, minZoom, maxZoom);
  moveTo(m_center + before - toScene(keepFixed));
}

void GraphWidget::moveTo(const QPointF& center) {
  m_center = center;
  if (m_scene) {
    const auto& bounds = m_scene->bounds;
    m_center.setX(std::clamp(m_center.x(), bounds.left(), std::max(bounds.left(), bounds.right())));
    m_center.setY(std::clamp(m_center.y(), bounds.top(), std::max(bounds.top(), bounds.bottom())));
  }
  m_untouched = false;
  update();
  emit viewChanged();
}

void GraphWidget::centerOn(int node) {
  if (!m_scene || node < 0 || node >= int(m_scene->cardOfNode.size())) return;
  const bool wasUntouched = m_untouched;
  const auto wanted = m_scene->cards[std::size_t(m_scene->cardOfNode[std::size_t(node)])].rect.center();
  moveTo(within(wanted));
  m_untouched = wasUntouched;
}

void GraphWidget::reveal(int node) {
  if (!m_scene || node < 0 || node >= int(m_scene->cardOfNode.size())) return;
  m_zoom = std::max(m_zoom, readable);
  centerOn(node);
}

QRectF GraphWidget::cardRect(int node) const {
  if (!m_scene || node < 0 || node >= int(m_scene->cardOfNode.size())) return {};
  const int card = m_scene->cardOfNode[std::size_t(node)];
  if (card < 0) return {};
  const auto& rect = m_scene->cards[std::size_t(card)].rect;
  return {toWidget(rect.topLeft()), toWidget(rect.bottomRight())};
}

QRectF GraphWidget::visibleScene() const { return {toScene({0, 0}), toScene(QPointF(width(), height()))}; }

QPointF GraphWidget::toScene(const QPointF& widget) const {
  return m_center + (widget - QRectF(rect()).center()) / m_zoom;
}

QPointF GraphWidget::toWidget(const QPointF& scene) const {
  return QRectF(rect()).center() + (scene - m_center) * m_zoom;
}

void GraphWidget::select(int node, bool bringIntoView) {
  m_state.selected = node;
  const bool known = m_scene && node >= 0 && node < int(m_scene->cardOfNode.size());
  if (known && bringIntoView) {
    const auto& card = m_scene->cards[std::size_t(m_scene->cardOfNode[std::size_t(node)])].rect;
    if (!visibleScene().adjusted(20, 20, -20, -20).contains(card)) centerOn(node);
  }
  update();
  m_minimap->update();
}

void GraphWidget::setFound(QSet<int> nodes, int current) {
  m_state.found = std::move(nodes);
  m_state.currentHit = current;
  m_minimap->refresh();
  update();
}

void GraphWidget::setColorMode(ColorMode mode) {
  m_state.mode = mode;
  m_minimap->refresh();
  update();
  emit meaningChanged();
}

void GraphWidget::setAccuracy(AccuracyDocPtr accuracy) {
  m_state.accuracy = std::move(accuracy);
  m_minimap->refresh();
  update();
  emit meaningChanged();
}

void GraphWidget::setSharding(ShardingDocPtr sharding) {
  m_state.sharding = std::move(sharding);
  findMoves();
  m_minimap->refresh();
  update();
  emit meaningChanged();
}

/// Once for a scene: it is painted often, and large.
void GraphWidget::findMoves() {
  const auto& scene = m_scene ? m_scene : m_retired;
  const bool known = scene && m_state.sharding;
  m_state.moves = known ? std::make_shared<const SceneMoves>(movesOf(*scene, *m_state.sharding)) : nullptr;
}

void GraphWidget::setCut(QHash<int, QString> saved, QSet<int> recomputed) {
  m_state.saved = std::move(saved);
  m_state.recomputed = std::move(recomputed);
  update();
}

void GraphWidget::setPinned(QSet<int> nodes) {
  m_state.pinned = std::move(nodes);
  update();
}

void GraphWidget::setNoted(QSet<int> nodes) {
  m_state.noted = std::move(nodes);
  update();
}

void GraphWidget::setChanges(QSet<int> added, QSet<int> rewritten) {
  m_state.added = std::move(added);
  m_state.rewritten = std::move(rewritten);
  update();
  emit meaningChanged();
}

void GraphWidget::setHulls(HullsPtr hulls) {
  m_state.hulls = std::move(hulls);
  update();
  emit meaningChanged();
}

void GraphWidget::setValuesShown(bool on) {
  m_state.values = on;
  update();
}

void GraphWidget::setDimUnrelated(bool on) {
  m_state.dimUnrelated = on;
  update();
}

void GraphWidget::paintGrid(QPainter& painter) const {
  const double step = grid * m_zoom;
  if (step < 12) return;
  const auto origin = toWidget({0, 0});
  QVector<QPointF> points;
  for (double x = std::fmod(origin.x(), step); x < width(); x += step)
    for (double y = std::fmod(origin.y(), step); y < height(); y += step) points.push_back({x, y});
  painter.setPen(QPen(blend(theme().border, theme().canvas, 0.8), 1.4));
  painter.drawPoints(points.constData(), int(points.size()));
}

void GraphWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme().canvas);
  const auto& scene = m_scene ? m_scene : m_retired;
  if (!scene || m_hidden) return;
  paintGrid(painter);
  painter.save();
  painter.translate(toWidget({0, 0}));
  painter.scale(m_zoom, m_zoom);
  GraphPainter batch(painter, *scene, m_state, m_zoom);
  batch.paint(visibleScene());
  painter.restore();
  m_paintedCards = batch.paintedCards();
}

void GraphWidget::renderAll(QPainter& painter) const {
  if (!m_scene) return;
  painter.fillRect(QRectF(QPointF(), QSizeF(sceneSize())), theme().canvas);
  painter.translate(QPointF(margin, margin) - m_scene->bounds.topLeft());
  GraphPainter(painter, *m_scene, m_state, 1).paint(m_scene->bounds);
}

QSize GraphWidget::sceneSize() const {
  if (!m_scene) return {};
  return QSizeF(m_scene->bounds.width() + 2 * margin, m_scene->bounds.height() + 2 * margin).toSize();
}

}  // namespace kerf::ui::inline graph_view
