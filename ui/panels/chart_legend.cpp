#include "ui/panels/chart_legend.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <QFontMetrics>
#include <QPainter>

namespace kerf::ui::inline panels {
namespace {

constexpr int signWidth = 18, signGap = 5, entryGap = 12;  ///< pixels

}  // namespace

QPainterPath MarkShape::path(const QPointF& center, double radius) const {
  radius *= size;
  QPainterPath path;
  if (corners == 0) {
    path.addEllipse(center, radius, radius);
    return path;
  }
  QPolygonF polygon;
  const auto corner = [&](double part, double away) {
    const double angle = 2 * std::numbers::pi * (turn + part / corners) - std::numbers::pi / 2;
    polygon << center + QPointF(std::cos(angle), std::sin(angle)) * away;
  };
  for (int i = 0; i < corners; ++i) {
    corner(i, radius);
    if (inner < 1) corner(i + 0.5, radius * inner);
  }
  path.addPolygon(polygon);
  path.closeSubpath();
  return path;
}

QStringList ChartLegend::names() const {
  QStringList names;
  for (const auto& entry : entries) names << entry.name;
  return names;
}

void ChartLegend::arrange(const QFontMetrics& metrics, int width, int rows) {
  m_places.clear();
  const int row = metrics.height() + 2;
  double x = 0, y = 0;
  for (const auto& entry : entries) {
    const double wanted = std::min(signWidth + signGap + metrics.horizontalAdvance(entry.name) + 1, width);
    if (x > 0 && x + wanted > width) {
      if (y + row >= rows * row) break;
      x = 0;
      y += row;
    }
    m_places.emplace_back(x, y, wanted, row);
    x += wanted + entryGap;
  }
  m_height = entries.empty() ? 0 : int(y) + row;
}

void ChartLegend::draw(QPainter& painter, const QPointF& top, const QColor& textColor, const QColor& edge) const {
  for (std::size_t i = 0; i < m_places.size(); ++i) {
    const auto& entry = entries[i];
    const QRectF place = m_places[i].translated(top);
    const QPointF middle(place.left() + signWidth / 2.0, place.center().y());
    if (entry.mark) {
      painter.setPen(edge);
      painter.setBrush(entry.color);
      painter.drawPath(entry.mark->path(middle, 5));
    } else {
      painter.setPen(QPen(entry.color, 2, entry.line));
      painter.drawLine(middle - QPointF(signWidth / 2.0, 0), middle + QPointF(signWidth / 2.0, 0));
    }
    painter.setPen(textColor);
    const auto text = place.adjusted(signWidth + signGap, 0, 0, 0);
    painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(entry.name, Qt::ElideRight, int(std::ceil(text.width()))));
  }
}

}  // namespace kerf::ui::inline panels
