#include "ui/graph_view/minimap.h"

#include <algorithm>

#include <QMouseEvent>
#include <QPainter>

#include "ui/graph_view/graph_widget.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {
namespace {
constexpr int mapWidth = 132, mapHeight = 190, leastHeight = 90, mapInset = 12;
constexpr double padding = 8;
}  // namespace

Minimap::Minimap(GraphWidget& view) : QWidget(&view), m_view(view) {
  setCursor(Qt::PointingHandCursor);
  setAccessibleName(tr("Overview"));
  connect(&view, &GraphWidget::viewChanged, this, [this] {
    place();
    update();
  });
}

void Minimap::refresh() {
  m_picture = {};
  place();
  update();
}

void Minimap::place() {
  const auto& scene = m_view.scene();
  const int height = std::min(mapHeight, m_view.height() / 3);  // it is to leave most of a small view alone
  const bool fits = height >= leastHeight;
  const bool needed = fits && scene && !scene->cards.empty() && !m_view.visibleScene().contains(scene->bounds);
  setVisible(needed);
  if (!needed) return;
  const double ratio = scene->bounds.width() / std::max(1.0, scene->bounds.height());
  const int width = std::clamp(int(height * ratio), 84, std::min(mapWidth * 2, std::max(84, m_view.width() / 4)));
  setGeometry(m_view.width() - width - mapInset, m_view.height() - height - mapInset, width, height);
}

double Minimap::scale() const {
  const auto& bounds = m_view.scene()->bounds;
  return std::min((width() - 2 * padding) / std::max(1.0, bounds.width()),
                  (height() - 2 * padding) / std::max(1.0, bounds.height()));
}

/// Where the scene's top left corner lies in the map.
QPointF Minimap::origin() const {
  const auto size = m_view.scene()->bounds.size() * scale();
  return {(width() - size.width()) / 2, (height() - size.height()) / 2};
}

void Minimap::render() {
  const double ratio = devicePixelRatioF();
  m_picture = QPixmap(size() * ratio);
  m_picture.setDevicePixelRatio(ratio);
  m_picture.fill(Qt::transparent);
  QPainter painter(&m_picture);
  painter.setPen(Qt::NoPen);
  const auto& scene = *m_view.scene();
  const auto at = origin();
  for (const auto& card : scene.cards) {
    const auto& node = scene.graph->nodes[std::size_t(card.node)];
    const bool found = m_view.state().found.contains(card.node);
    const QPointF corner = at + (card.rect.topLeft() - scene.bounds.topLeft()) * scale();
    const QSizeF size(std::max(1.5, card.rect.width() * scale()), std::max(1.0, card.rect.height() * scale()));
    painter.fillRect(QRectF(corner, size),
                     found ? theme().warn : blend(nodeColor(node, m_view.state()), theme().base, 0.7));
  }
}

void Minimap::paintEvent(QPaintEvent*) {
  if (!m_view.scene()) return;
  if (m_picture.isNull() || m_picture.size() != size() * devicePixelRatioF()) render();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(theme().edge);
  painter.setBrush(theme().base);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
  painter.drawPixmap(0, 0, m_picture);
  const auto seen = m_view.visibleScene() & m_view.scene()->bounds;
  const auto topLeft = origin() + (seen.topLeft() - m_view.scene()->bounds.topLeft()) * scale();
  QColor fill = theme().accent;
  fill.setAlphaF(0.12F);
  painter.setPen(QPen(theme().accent, 1.2));
  painter.setBrush(fill);
  painter.drawRoundedRect(
      QRectF(topLeft, seen.size() * scale()).adjusted(-1, -1, 1, 1) & QRectF(rect()).adjusted(2, 2, -2, -2), 2, 2);
}

void Minimap::jump(QMouseEvent* event) {
  if (!(event->buttons() & Qt::LeftButton) || !m_view.scene()) return;
  m_view.moveTo(m_view.scene()->bounds.topLeft() + (event->position() - origin()) / scale());
  event->accept();
}

}  // namespace kerf::ui::inline graph_view
