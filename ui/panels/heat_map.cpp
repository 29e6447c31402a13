#include "ui/panels/heat_map.h"

#include <algorithm>
#include <cmath>

#include <QEvent>
#include <QMouseEvent>
#include <QPainter>

#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

/// Blue and amber are told apart by people who do not see red and green.
QColor patchColor(float value, float largest) {
  if (std::isnan(value)) return theme().bad;
  if (std::isinf(value)) return theme().kind(NodeKind::Random);
  const double depth = largest > 0 ? std::sqrt(double(std::abs(value)) / double(largest)) : 0;
  return blend(value < 0 ? theme().warn : theme().accent, theme().base, 0.06 + 0.94 * std::min(1.0, depth));
}

}  // namespace

HeatMap::HeatMap(QWidget* parent) : QWidget(parent) {
  setObjectName("heatMap");
  setAccessibleName(tr("Heat map of the value"));
  setToolTip(tr("A click or the arrow keys move the cells that are shown as numbers"));
  setMinimumSize(160, 110);
  setFocusPolicy(Qt::StrongFocus);
}

void HeatMap::setPlane(const workbench::ValuePlane& plane, const workbench::ValueWindow& window) {
  m_plane = plane;
  m_window = window;
  draw();
}

void HeatMap::draw() {
  float largest = 0;
  for (const float value : m_plane.patches)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  m_image = QImage(int(m_plane.shownColumns), int(m_plane.shownRows), QImage::Format_RGB32);
  for (int row = 0; row < m_image.height(); ++row)
    for (int column = 0; column < m_image.width(); ++column)
      m_image.setPixelColor(column, row,
                            patchColor(m_plane.patches[std::size_t(row * m_image.width() + column)], largest));
  update();
}

/// Patches are square where they fit, but a long row is stretched so that one sees it.
QRectF HeatMap::area() const {
  const auto inner = QRectF(rect()).adjusted(12, 10, -12, -10);
  if (m_image.isNull()) return inner;
  const QSizeF natural = QSizeF(m_image.size()).scaled(inner.size(), Qt::KeepAspectRatio);
  const QSizeF size(std::max(natural.width(), inner.width() / 3), std::max(natural.height(), inner.height() / 3));
  return {inner.topLeft(), size};
}

QPointF HeatMap::pointAt(qint64 row, qint64 column) const {
  const auto inner = area();
  return {inner.left() + inner.width() * (double(column) + 0.5) / double(std::max<qint64>(1, m_plane.columns)),
          inner.top() + inner.height() * (double(row) + 0.5) / double(std::max<qint64>(1, m_plane.rows))};
}

void HeatMap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme().base);
  if (!m_image.isNull()) {
    const auto inner = area();
    painter.drawImage(inner, m_image);
    painter.setPen(theme().border);
    painter.drawRect(inner);
    const double width = inner.width() / double(m_plane.columns), height = inner.height() / double(m_plane.rows);
    painter.setPen(QPen(theme().text, 1.5));
    painter.drawRect(QRectF(inner.left() + width * double(m_window.column), inner.top() + height * double(m_window.row),
                            width * double(m_window.columns), height * double(m_window.rows)));
  }
  if (!hasFocus()) return;
  painter.setPen(QPen(theme().accent, 2));
  painter.drawRect(rect().adjusted(1, 1, -2, -2));
}

void HeatMap::mousePressEvent(QMouseEvent* event) {
  const auto inner = area();
  const auto at = event->position() - inner.topLeft();
  if (m_image.isNull() || !inner.contains(event->position())) return;
  emit cellPicked(qint64(at.y() / inner.height() * double(m_plane.rows)),
                  qint64(at.x() / inner.width() * double(m_plane.columns)));
}

void HeatMap::keyPressEvent(QKeyEvent* event) {
  const auto [row, column] = std::pair(m_window.row, m_window.column);
  switch (event->key()) {
    case Qt::Key_Up:
      return emit cellPicked(std::max<qint64>(0, row - m_window.rows), column);
    case Qt::Key_Down:
      return emit cellPicked(row + m_window.rows, column);
    case Qt::Key_Left:
      return emit cellPicked(row, std::max<qint64>(0, column - m_window.columns));
    case Qt::Key_Right:
      return emit cellPicked(row, column + m_window.columns);
    default:
      QWidget::keyPressEvent(event);
  }
}

void HeatMap::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) draw();
  QWidget::changeEvent(event);
}

}  // namespace kerf::ui::inline panels
