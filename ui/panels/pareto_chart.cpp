#include "ui/panels/pareto_chart.h"

#include <algorithm>

#include <QMouseEvent>
#include <QPainter>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

/// "9.2 kFLOP"
QString formatFlops(double flops) {
  static const char* units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"};
  std::size_t unit = 0;
  for (; flops >= 1000 && unit + 1 < std::size(units); ++unit) flops /= 1000;
  return QString("%1 %2").arg(flops, 0, 'g', 3).arg(units[unit]);
}

}  // namespace

ParetoChart::ParetoChart(QWidget* parent) : QWidget(parent) {
  setObjectName("pareto");
  setAccessibleName(tr("Saved bytes and recomputed work, by budget"));
  setMinimumSize(200, 110);
}

void ParetoChart::setPartitions(const std::vector<workbench::PartitionDoc>& partitions) {
  m_points.clear();
  m_most = {1, 1};
  for (const auto& each : partitions) {
    m_points.push_back({double(each.savedBytes), each.recomputedFlops});
    m_most = {std::max(m_most.x(), m_points.back().x()), std::max(m_most.y(), m_points.back().y())};
  }
  update();
}

void ParetoChart::setCurrent(int point) {
  m_current = point;
  update();
}

QRectF ParetoChart::area() const { return QRectF(rect()).adjusted(74, 14, -22, -34); }

QPointF ParetoChart::pointAt(int budget) const {
  const auto inner = area();
  const auto& point = m_points[std::size_t(budget)];
  return {inner.left() + inner.width() * point.x() / m_most.x(),
          inner.bottom() - inner.height() * point.y() / m_most.y()};
}

void ParetoChart::mousePressEvent(QMouseEvent* event) {
  int nearest = -1;
  double least = 20;
  for (int i = 0; i < int(m_points.size()); ++i)
    if (const double away = (pointAt(i) - event->position()).manhattanLength(); away < least) {
      least = away;
      nearest = i;
    }
  if (nearest >= 0) emit pointPicked(nearest);
}

void ParetoChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme().base);
  if (m_points.empty()) return;
  painter.setRenderHint(QPainter::Antialiasing);
  QFont small = interfaceFont();
  small.setPixelSize(11);
  painter.setFont(small);
  const auto inner = area();
  for (int i = 0; i <= 4; ++i) {
    const double part = i / 4.0, x = inner.left() + inner.width() * part, y = inner.bottom() - inner.height() * part;
    painter.setPen(blend(theme().border, theme().base, i == 0 ? 1 : 0.5));
    painter.drawLine(QPointF(inner.left(), y), QPointF(inner.right(), y));
    painter.drawLine(QPointF(x, inner.top()), QPointF(x, inner.bottom()));
    painter.setPen(theme().muted);
    painter.drawText(QRectF(0, y - 8, inner.left() - 6, 16), Qt::AlignRight | Qt::AlignVCenter,
                     formatFlops(m_most.y() * part));
    painter.drawText(QRectF(x - 40, inner.bottom() + 3, 80, 14), Qt::AlignCenter,
                     formatBytes(qint64(m_most.x() * part)));
  }
  painter.drawText(QRectF(inner.left(), inner.bottom() + 17, inner.width(), 14), Qt::AlignCenter,
                   tr("saved for backward (down: less work done again)"));
  QPolygonF line;
  for (int i = 0; i < int(m_points.size()); ++i) line << pointAt(i);
  painter.setPen(QPen(theme().accent, 1.5));
  painter.drawPolyline(line);
  for (int i = 0; i < int(m_points.size()); ++i) {
    const bool current = i == m_current;
    painter.setPen(Qt::NoPen);
    painter.setBrush(current ? theme().warn : theme().accent);
    painter.drawEllipse(pointAt(i), current ? 6 : 3, current ? 6 : 3);
  }
}

}  // namespace kerf::ui::inline panels
